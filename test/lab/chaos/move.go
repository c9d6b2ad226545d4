package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// movePaths are the last parts of the panel API's paths.
var movePaths = map[models.Move]string{
	models.MoveReceive: "receive", models.MoveAssign: "assign", models.MoveDeliver: "deliver", models.MoveCancel: "cancel",
	models.MoveFail: "attempt", models.MoveRetry: "decision", models.MoveReturn: "decision", models.MoveHandBack: "hand-back",
	models.MoveUndo: "undo",
}

// refusals are the codes of moves that an order does not allow.
var refusals = []string{"move_not_allowed", "undo_not_allowed"}

// make makes a step of a scenario.
func (c *client) make(ctx context.Context, tracked *trackedOrder, step step) (bool, error) {
	switch {
	case step.by == models.ByAuto:
		return c.waitForDecision(ctx, tracked)
	case step.reordered != "":
		return true, c.makeActsReordered(ctx, tracked, step.move, step.reordered)
	case step.by == models.ByRider:
		return c.makeAct(ctx, tracked, step.move)
	}
	return c.move(ctx, tracked, step.move, step.by)
}

// move makes a move as the contract tells clients to: a move without a response is looked up before
// it is repeated. It returns false when the order's status does not allow the move, which happens
// when the timer was first.
func (c *client) move(ctx context.Context, tracked *trackedOrder, move models.Move, by models.Actor) (bool, error) {
	request, err := c.requestFor(tracked, move, by)
	if err != nil {
		return false, err
	}
	var waits backoff
	for {
		answer, err := c.call(ctx, request)
		switch {
		case err == nil && answer.Status == http.StatusOK:
			tracked.note("%s: 200", move)
			tracked.acknowledge(move)
			c.s.report.count("moves acknowledged: " + string(move))
			return true, nil
		case err == nil && (answer.Status == http.StatusConflict || answer.Status == http.StatusBadRequest) &&
			slices.Contains(refusals, codeOf(answer)):
			tracked.note("%s: refused", move)
			happened, err := c.confirmMove(ctx, tracked, move)
			if err == nil && !happened {
				c.s.report.count("moves refused")
				err = c.checkRefusal(ctx, tracked, move, by)
			}
			return happened, err
		case err == nil && codeOf(answer) == "photo_not_stored":
			tracked.note("%s: the photo was not stored", move)
			c.s.report.count("photos refused for want of room")
			answer.Header.Del("Retry-After") // the rider is waiting: retry at once
		case err != nil, answer.Status >= http.StatusInternalServerError, answer.Status == http.StatusTooManyRequests:
			tracked.note("%s: %s", move, outcome(answer, err))
			c.s.report.count("moves not confirmed")
			tracked.unknown[move]++
			if happened, err := c.confirmMove(ctx, tracked, move); happened || err != nil {
				return happened, err
			}
		default:
			c.s.report.violate(invariantMoves, tracked.id, "%s was answered %d: %.300s", move, answer.Status, answer.Body)
			return false, nil
		}
		if err := cluster.Sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return false, err
		}
	}
}

func outcome(answer *cluster.Answer, err error) string {
	if err != nil {
		return "no answer: " + err.Error()
	}
	return fmt.Sprintf("%d %s", answer.Status, codeOf(answer))
}

// requestFor is the request of a move: a store cancels and decides with its key, the rest uses the
// panel API.
func (c *client) requestFor(tracked *trackedOrder, move models.Move, by models.Actor) (cluster.Request, error) {
	if by == models.ByStore {
		return c.storesRequest(tracked, move), nil
	}
	request := cluster.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + tracked.id + "/" + movePaths[move],
		Token: c.s.operator.token, Body: []byte("{}")}
	switch move {
	case models.MoveAssign:
		tracked.rider = c.s.operator.riders[tracked.done[models.MoveAssign]%len(c.s.operator.riders)]
		request.Body = fmt.Appendf(nil, `{"rider_id":%q}`, tracked.rider)
	case models.MoveFail:
		fields := map[string]string{"reason": string(models.FailureReasons[c.rng.IntN(len(models.FailureReasons))])}
		if c.rng.IntN(3) == 0 {
			return request, c.attachPhoto(&request, fields)
		}
		request.Body = fmt.Appendf(nil, `{"reason":%q}`, fields["reason"])
	case models.MoveRetry, models.MoveReturn:
		request.Body = []byte(c.decision(move))
	case models.MoveUndo:
		request.Body = []byte(`{"reason":"era otro paquete"}`)
	case models.MoveDeliver:
		fields := map[string]string{}
		if tracked.cash {
			fields["actual_amount_collected"] = "50.00"
		}
		if c.rng.IntN(5) < 2 {
			return request, c.attachPhoto(&request, fields)
		}
		if tracked.cash {
			request.Body = []byte(`{"actual_amount_collected":50.00}`)
		}
	}
	return request, nil
}

func (c *client) storesRequest(tracked *trackedOrder, move models.Move) cluster.Request {
	if move == models.MoveCancel {
		return cluster.Request{
			Method: http.MethodPatch, Path: "/v1/orders/" + tracked.id + "/cancel", Key: tracked.apiKey,
			Body: []byte(`{"reason":"el cliente desistió"}`),
		}
	}
	return cluster.Request{Method: http.MethodPost, Path: "/v1/orders/" + tracked.id + "/decision", Key: tracked.apiKey,
		Body: []byte(c.decision(move))}
}

// decision is the body of a decision: the way back, another attempt, or one at another address.
func (c *client) decision(move models.Move) string {
	if move == models.MoveReturn {
		return `{"decision":"return"}`
	}
	if c.rng.IntN(2) == 0 {
		return fmt.Sprintf(`{"decision":"change","delivery_address":"Jr. Cusco %d"}`, 100+c.rng.IntN(900))
	}
	return `{"decision":"retry"}`
}

// panelOrder is an order as the panel API returns it.
type panelOrder struct {
	Status    models.Status
	Substatus models.Substatus
	Timeline  []struct{ Type, By string }
}

// confirmMove reads the order and reports whether a move of unknown outcome was made; the ledger
// then counts it as acknowledged.
func (c *client) confirmMove(ctx context.Context, tracked *trackedOrder, move models.Move) (bool, error) {
	if tracked.unknown[move] == 0 {
		return false, nil
	}
	now, err := c.read(ctx, tracked)
	if err != nil {
		return false, err
	}
	made := 0
	for _, entry := range now.Timeline {
		if entry.Type == entryType(move) && entry.By != string(models.ByAuto) {
			made++
		}
	}
	tracked.note("looked up: %s", now.Status)
	if made <= tracked.done[move] {
		return false, nil
	}
	tracked.resolve(move)
	c.s.report.count("moves found made by looking")
	return true, nil
}

// checkRefusal holds a refusal against the row. Nobody else moves the order but the timer, whose
// move the row shows; a move whose outcome is unknown may have come in between.
func (c *client) checkRefusal(ctx context.Context, tracked *trackedOrder, move models.Move, by models.Actor) error {
	if !tracked.certain() {
		return nil
	}
	now, err := c.read(ctx, tracked)
	if err != nil {
		return err
	}
	c.s.report.checked(invariantRefused, 1)
	state := models.State{Status: now.Status, Substatus: now.Substatus}
	if now.Status == models.StatusCancelled {
		state.CancelledBy = models.Actor(now.Timeline[len(now.Timeline)-1].By)
	}
	if by == "" {
		by = models.ByOperator
	}
	if move == models.MoveUndo && len(now.Timeline) > 0 && !models.Move(now.Timeline[len(now.Timeline)-1].Type).Undoable() {
		return nil
	}
	if _, verdict := state.Decide(move, by, nil); verdict == models.Applied {
		c.s.report.violate(invariantRefused, tracked.id, "%s was refused, and the order is %s", move, now.Status)
	}
	return nil
}

// entryType is the type of a move's timeline entry.
func entryType(move models.Move) string {
	if move == models.MoveCancel {
		return string(models.StatusCancelled)
	}
	return string(move)
}

// read reads an order from the panel API, retrying until it gets a 200.
func (c *client) read(ctx context.Context, tracked *trackedOrder) (*panelOrder, error) {
	var waits backoff
	for {
		answer, err := c.call(ctx, cluster.Request{Method: http.MethodGet, Path: "/panel/api/orders/" + tracked.id,
			Token: c.s.operator.token})
		if err == nil && answer.Status == http.StatusOK {
			var body struct{ Data panelOrder }
			return &body.Data, json.Unmarshal(answer.Body, &body)
		}
		if err == nil && answer.Status < http.StatusInternalServerError {
			c.s.report.violate(invariantReadable, tracked.id, "reading it was answered %d: %.300s", answer.Status, answer.Body)
		}
		if err := cluster.Sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return nil, err
		}
	}
}

// waitForTimer returns when the timer has cancelled the order.
func (c *client) waitForTimer(ctx context.Context, tracked *trackedOrder) error {
	if err := cluster.Sleep(ctx, c.s.options.AutoCancelAfter); err != nil {
		return err
	}
	for {
		now, err := c.read(ctx, tracked)
		if err != nil || now.Status == models.StatusCancelled {
			return err
		}
		if err := cluster.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// decisionTime is how long a decision is waited for that nobody takes.
const decisionTime = 2 * time.Second

// waitForDecision returns when the timer has decided what comes after a failed attempt. The
// deadline is a day away: it is brought forward in the row, and the workflow gets it with the next
// move, which brings the package back.
func (c *client) waitForDecision(ctx context.Context, tracked *trackedOrder) (bool, error) {
	for {
		err := dev.OnDatabase(ctx, c.s.databaseURL, func(connection *pgx.Conn) error {
			_, err := connection.Exec(ctx, `UPDATE orders SET decision_deadline = now() + $1::interval WHERE id = $2`, decisionTime,
				tracked.id)
			return err
		})
		if err == nil {
			break
		}
		if err := cluster.Sleep(ctx, time.Second); err != nil {
			return false, err
		}
	}
	if moved, err := c.move(ctx, tracked, models.MoveReceive, models.ByOperator); err != nil || !moved {
		return moved, err
	}
	for {
		now, err := c.read(ctx, tracked)
		if err != nil || !now.Substatus.Undecided() {
			tracked.note("decided by nobody")
			return true, err
		}
		if err := cluster.Sleep(ctx, time.Second); err != nil {
			return false, err
		}
	}
}

// newIdempotencyKey is a key from the client's random numbers, so that the seed decides it.
func (c *client) newIdempotencyKey() string {
	id, err := uuid.NewRandomFromReader(randomBytes{c.rng})
	if err != nil {
		panic(err) // randomBytes never fails
	}
	return "sale-" + id.String()
}
