package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"despacho/models"
	"despacho/test/lab/cluster"
)

// checkReadable reads every acknowledged order with a key of its store.
func checkReadable(ctx context.Context, c *checker) error {
	caller := c.newClient(stream(c.options.Seed, planStream))
	defer caller.close()
	for i, tracked := range c.ledger.acknowledged() {
		c.report.checked(invariantReadable, 1)
		// The store's keys take turns: one alone would reach its rate limit.
		key := c.operator.otherKey(tracked.apiKey, i)
		got, err := caller.call(ctx, cluster.Request{Method: http.MethodGet, Path: "/v1/orders/" + tracked.id, Key: key})
		if err != nil {
			return err
		}
		var read struct {
			Data struct {
				ID        string        `json:"id"`
				GuideCode string        `json:"guide_code"`
				Status    models.Status `json:"status"`
			}
		}
		if got.Status != http.StatusOK || json.Unmarshal(got.Body, &read) != nil || read.Data.ID != tracked.id ||
			read.Data.GuideCode != tracked.guide {
			c.report.violate(invariantReadable, tracked.id, "acknowledged as %s; read: %d %.200s", tracked.guide, got.Status,
				got.Body)
			continue
		}
		if row := c.byID[tracked.id]; row == nil || row.Status != read.Data.Status {
			c.report.violate(invariantReadable, tracked.id, "read as %s, which is not what the row says", read.Data.Status)
		}
	}
	return nil
}

// checkKeys counts the orders of every Idempotency-Key.
func checkKeys(_ context.Context, c *checker) error {
	made := map[string][]string{}
	for _, row := range c.orders {
		if row.Reference != nil {
			made[*row.Reference] = append(made[*row.Reference], row.ID)
		}
	}
	for _, tracked := range c.ledger.all() {
		c.report.checked(invariantKeys, 1)
		ids := made[tracked.key]
		switch {
		case tracked.id == "":
			c.report.violate(invariantKeys, tracked.key, "the creation was never acknowledged; orders: %v", ids)
		case len(ids) != 1 || ids[0] != tracked.id:
			c.report.violate(invariantKeys, tracked.id, "its key made %v", ids)
		}
		delete(made, tracked.key)
	}
	for key, ids := range made {
		c.report.violate(invariantKeys, ids[0], "made by a key that nobody used: %s", key)
	}
	return nil
}

// checkTimelines replays every timeline over the transition table.
func checkTimelines(_ context.Context, c *checker) error {
	for _, row := range c.orders {
		c.report.checked(invariantTimelines, 1)
		if err := replay(row, c.timelines[row.ID]); err != nil {
			c.report.violate(invariantTimelines, row.ID, "%v", err)
		}
	}
	return nil
}

// moveOf is the move of a timeline entry.
func moveOf(entry entryRow) models.Move {
	if entry.Type == string(models.StatusCancelled) {
		return models.MoveCancel
	}
	return models.Move(entry.Type)
}

// countRequested counts the moves of a timeline that a client asked for: all but the timer's.
func countRequested(timeline []entryRow) map[models.Move]int {
	made := map[models.Move]int{}
	for _, entry := range timeline {
		if entry.Actor != models.ByAuto {
			made[moveOf(entry)]++
		}
	}
	return made
}

func replay(row *orderRow, timeline []entryRow) error {
	if len(timeline) == 0 || timeline[0].Type != models.TimelineCreated || timeline[0].Status != models.StatusRegistered {
		return fmt.Errorf("the timeline does not begin with the creation")
	}
	// before and state are those around the latest move, which is what an undo takes back.
	var before models.State
	state := models.State{Status: models.StatusRegistered}
	for i, entry := range timeline {
		if entry.Seq != i+1 {
			return fmt.Errorf("entry %d has the number %d", i+1, entry.Seq)
		}
		if i == 0 {
			continue
		}
		move := moveOf(entry)
		after, verdict := state.Decide(move, entry.Actor, riderOf(entry))
		if move == models.MoveUndo {
			if !moveOf(timeline[i-1]).Undoable() {
				return fmt.Errorf("entry %d takes back %s, which cannot be", entry.Seq, timeline[i-1].Type)
			}
			after = before
		}
		if verdict != models.Applied || after.Status != entry.Status {
			return fmt.Errorf("entry %d: %s by %s leads from %s %s to %s, which the table does not have", entry.Seq, move,
				entry.Actor, state.Status, state.Substatus, entry.Status)
		}
		if move == models.MoveCancel && entry.Actor == models.ByAuto && entry.At.Before(row.AutoCancelAt) {
			return fmt.Errorf("the timer cancelled it before its time")
		}
		before, state = state, after
	}
	if last := timeline[len(timeline)-1]; row.Status != last.Status || row.Seq != last.Seq {
		return fmt.Errorf("the row says %s (%d), the timeline ends with %s (%d)", row.Status, row.Seq, last.Status, last.Seq)
	}
	if !row.state().Equal(state) {
		return fmt.Errorf("the row is %+v, the timeline ends as %+v", row.state(), state)
	}
	return nil
}

// riderOf is the rider of an assignment.
func riderOf(entry entryRow) *uuid.UUID {
	if moveOf(entry) != models.MoveAssign {
		return nil
	}
	return entry.RiderID
}

// checkMoves compares the timelines with the ledger: every acknowledged move is there, and no move
// that no client asked for.
func checkMoves(_ context.Context, c *checker) error {
	for _, tracked := range c.ledger.acknowledged() {
		c.report.checked(invariantMoves, 1)
		if !tracked.finished {
			c.report.violate(invariantMoves, tracked.id, "its clients got no further in all that time")
		}
		made := countRequested(c.timelines[tracked.id])
		for _, move := range models.Moves {
			if made[move] < tracked.done[move] || made[move] > tracked.done[move]+tracked.unknown[move] {
				c.report.violate(invariantMoves, tracked.id, "%s: %d acknowledged, %d never confirmed, %d in the timeline", move,
					tracked.done[move], tracked.unknown[move], made[move])
			}
		}
	}
	return nil
}

// checkTotals counts the orders by status three times: from the acknowledged moves, in the database
// and with the API. Where the timer may have moved an order, or a move's outcome is unknown, the
// row's status counts: checkMoves has compared its timeline with the ledger.
func checkTotals(ctx context.Context, c *checker) error {
	expected, rows := map[models.Status]int{}, map[models.Status]int{}
	for _, tracked := range c.ledger.acknowledged() {
		status := tracked.last
		if row := c.byID[tracked.id]; row != nil && (!tracked.certain() || status == models.StatusRegistered) {
			status = row.Status
		}
		expected[status]++
	}
	for _, row := range c.orders {
		rows[row.Status]++
	}
	caller := c.newClient(stream(c.options.Seed, planStream))
	defer caller.close()
	for _, status := range models.Statuses {
		c.report.checked(invariantTotals, 1)
		got, err := caller.call(ctx, cluster.Request{Method: http.MethodGet, Path: "/panel/api/orders?limit=1&status=" +
			string(status), Token: c.operator.token})
		if err != nil {
			return err
		}
		var list struct{ Data struct{ Total int } }
		if err := json.Unmarshal(got.Body, &list); err != nil {
			return err
		}
		c.report.Totals[status] = rows[status]
		if expected[status] != rows[status] || list.Data.Total != rows[status] {
			c.report.violate(invariantTotals, string(status), "acknowledged %d, rows %d, the API counts %d", expected[status],
				rows[status], list.Data.Total)
		}
	}
	return nil
}
