package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/models"
	"despacho/test/lab/cluster"
)

// trackedAct is what a rider did, as their phone knows it: made or refused once the service has
// said so.
type trackedAct struct {
	id      uuid.UUID
	move    models.Move
	rider   uuid.UUID
	request cluster.Request
	outcome string
}

// The outcomes of an act.
const (
	actDone    = "done"
	actRefused = "refused"
)

// newAct is what the rider of an order does now.
func (c *client) newAct(tracked *trackedOrder, move models.Move) (*trackedAct, error) {
	id, err := uuid.NewRandomFromReader(randomBytes{c.rng})
	if err != nil {
		return nil, err
	}
	act := &trackedAct{id: id, move: move, rider: tracked.rider}
	members := map[string]any{"id": id, "type": move, "order_ids": []string{tracked.id}, "occurred_at": time.Now().UTC(),
		"lat": -12.1211, "lng": -77.0299}
	switch {
	case move == models.MoveFail:
		members["reason"] = models.FailureReasons[c.rng.IntN(len(models.FailureReasons))]
	case tracked.cash:
		members["collections"] = map[string]any{tracked.id: []map[string]any{{"method": models.PaidByYape, "amount": 20},
			{"method": models.PaidInCash, "amount": 30}}}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	act.request = cluster.Request{Method: http.MethodPost, Path: "/rider/api/acts", Phone: c.s.operator.phones[act.rider], Body: body}
	if c.rng.IntN(5) < 2 {
		err = c.attachPhoto(&act.request, map[string]string{"act": string(body)})
	}
	tracked.acts = append(tracked.acts, act)
	return act, err
}

// makeAct does what a rider does and has the phone send it until it is answered. It returns false
// if the act was refused.
func (c *client) makeAct(ctx context.Context, tracked *trackedOrder, move models.Move) (bool, error) {
	act, err := c.newAct(tracked, move)
	if err != nil {
		return false, err
	}
	if err := c.sendAct(ctx, tracked, act); err != nil {
		return false, err
	}
	return act.outcome == actDone, nil
}

// makeActsReordered does two things one after the other and has the phone send them at once, the
// later one first: which is made first is left to the network.
func (c *client) makeActsReordered(ctx context.Context, tracked *trackedOrder, first, second models.Move) error {
	var acts []*trackedAct
	for _, move := range []models.Move{first, second} {
		act, err := c.newAct(tracked, move)
		if err != nil {
			return err
		}
		acts = append(acts, act)
	}
	other := c.s.newClient(stream(c.rng.Uint64(), c.rng.Uint64()))
	defer other.close()
	var sending sync.WaitGroup
	var failed error
	sending.Go(func() { failed = other.sendAct(ctx, tracked, acts[1]) })
	err := c.sendAct(ctx, tracked, acts[0])
	sending.Wait()
	if err == nil {
		err = failed
	}
	if err == nil && acts[1].outcome == actDone { // whichever was answered last
		tracked.last = statusAfter[second]
	}
	return err
}

// sendAct sends an act as the phone does, with the same id until it is answered. One in three is
// sent again after that, which changes nothing.
func (c *client) sendAct(ctx context.Context, tracked *trackedOrder, act *trackedAct) error {
	var waits backoff
	for {
		answer, err := c.call(ctx, act.request)
		switch {
		case err == nil && answer.Status == http.StatusOK:
			told, err := outcomeOf(answer)
			if err != nil {
				return err
			}
			tracked.answerAct(act, told)
			c.s.report.count("acts of riders: " + told)
			if c.rng.IntN(3) == 0 {
				c.repeatAct(ctx, tracked, act)
			}
			return nil
		case err != nil, answer.Status >= http.StatusInternalServerError, answer.Status == http.StatusTooManyRequests:
			tracked.note("%s by the rider: %s", act.move, outcome(answer, err))
			c.s.report.count("acts of riders sent again")
		default:
			c.s.report.violate(invariantActs, tracked.id, "%s was answered %d: %.300s", act.move, answer.Status, answer.Body)
			return fmt.Errorf("the act of a rider was answered %d", answer.Status)
		}
		if err := cluster.Sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return err
		}
	}
}

// repeatAct sends an act again that was answered.
func (c *client) repeatAct(ctx context.Context, tracked *trackedOrder, act *trackedAct) {
	again, err := c.call(ctx, act.request)
	if err != nil || again.Status != http.StatusOK {
		return // an outage; it was answered once
	}
	c.s.report.checked(invariantActs, 1)
	if told, err := outcomeOf(again); err != nil || told != act.outcome {
		c.s.report.violate(invariantActs, tracked.id, "%s was %s, and %s when it was sent again", act.move, act.outcome, told)
	}
}

// outcomeOf is what became of an act of one order.
func outcomeOf(answer *cluster.Answer) (string, error) {
	var body struct {
		Data struct{ Results []struct{ Outcome string } }
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		return "", err
	}
	if len(body.Data.Results) != 1 {
		return "", fmt.Errorf("an act of one order has %d results", len(body.Data.Results))
	}
	return body.Data.Results[0].Outcome, nil
}

func (a *trackedAct) entryID(order uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(order, []byte("act "+a.id.String()))
}

func (a *trackedAct) refusalID(order uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(order, []byte("refused act "+a.id.String()))
}

// checkActs looks for every act: made once, or refused and kept, as the phone was told.
func checkActs(_ context.Context, c *checker) error {
	for _, tracked := range c.ledger.acknowledged() {
		order, err := uuid.Parse(tracked.id)
		if err != nil {
			return err
		}
		made, kept := map[uuid.UUID]int{}, map[uuid.UUID]int{}
		for _, entry := range c.timelines[tracked.id] {
			if entry.Actor == models.ByRider {
				made[entry.ID]++
			}
		}
		for _, entry := range c.refusals[tracked.id] {
			kept[entry.ID]++
		}
		for _, act := range tracked.acts {
			c.report.checked(invariantActs, 1)
			n, refused := made[act.entryID(order)], kept[act.refusalID(order)]
			if act.outcome == actDone && (n != 1 || refused != 0) || act.outcome == actRefused && (n != 0 || refused != 1) ||
				act.outcome == "" && n+refused > 1 {
				c.report.violate(invariantActs, tracked.id, "%s was answered %q, and is in the timeline %d times made, %d times refused",
					act.move, act.outcome, n, refused)
			}
			delete(made, act.entryID(order))
			delete(kept, act.refusalID(order))
		}
		if len(made)+len(kept) > 0 {
			c.report.violate(invariantActs, tracked.id, "%d moves and %d refusals that no phone has sent", len(made), len(kept))
		}
	}
	return nil
}
