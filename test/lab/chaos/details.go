package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"despacho/test/lab/cluster"
	"despacho/workflows"
)

// maxDetails is about how many orders are printed in detail.
const maxDetails = 5

// printDetails prints what is known of the orders for which an invariant was broken.
func (s *stack) printDetails(ctx context.Context, c *checker) error {
	printed := map[string]bool{}
	// One order for each broken invariant first, then more of each.
	for n, more := 0, true; more && len(printed) < maxDetails; n++ {
		more = false
		for _, i := range s.report.Invariants {
			if n >= len(i.Broken) {
				continue
			}
			more = true
			if order := i.Broken[n].Subject; c.byID[order] != nil && !printed[order] {
				printed[order] = true
				s.options.logf("\n%s", s.orderDetails(ctx, c, order))
			}
		}
	}
	if len(printed) > 0 {
		s.options.logf("the logs of all processes are in %s", s.options.LogDir)
	}
	return nil
}

// orderDetails is an order's row, timeline, deliveries, workflow history and its client's notes.
func (s *stack) orderDetails(ctx context.Context, c *checker, id string) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	row := c.byID[id]
	line("ORDER %s", id)
	line("row: guide %s, %s (seq %d), created %s", row.GuideCode, row.Status, row.Seq, row.CreatedAt.UTC().Format(time.TimeOnly))
	for _, entry := range c.timelines[id] {
		line("timeline %d: %s → %s by %s at %s", entry.Seq, entry.Type, entry.Status, entry.Actor,
			entry.At.UTC().Format("15:04:05.000"))
	}
	for _, d := range c.deliveries[id] {
		line("delivery %s of %d: %s to %s, %s after %d attempts (%d without an answer), heard %d times",
			d.ID, d.OrderSeq, d.Event, d.hook(), d.Status, d.Attempts, d.Interrupted, s.receivers.count(d.hook(), d.ID))
	}
	for _, tracked := range s.ledger.all() {
		if tracked.id != id {
			continue
		}
		line("its clients (%s, key %s) saw:", tracked.scenario, tracked.key)
		for _, note := range tracked.notes {
			line("  %s", note)
		}
		line("ledger: acknowledged %v, never confirmed %v", tracked.done, tracked.unknown)
	}
	runs, err := c.listRuns(ctx)
	if err != nil {
		line("workflow: %v", err)
	}
	for _, r := range runs[id] {
		line("workflow run %s: %s", r.id, r.status)
		line("%s", s.history(ctx, id, r.id))
	}
	return text.String()
}

// history lists a run's events, one on each line.
func (s *stack) history(ctx context.Context, order, run string) string {
	var text strings.Builder
	events, err := cluster.History(ctx, s.Client, workflows.OrderWorkflowPrefix+order, run)
	for _, event := range events.Events {
		fmt.Fprintf(&text, "  %s %3d %s\n", event.EventTime.AsTime().Format("15:04:05.000"), event.EventId, event.EventType)
	}
	if err != nil {
		fmt.Fprintf(&text, "  %v\n", err)
	}
	return strings.TrimRight(text.String(), "\n")
}
