package chaos

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
)

func restoredTimeline(words ...string) *restoredOrder {
	order := &restoredOrder{ID: "1"}
	for _, entry := range timeline(words...) {
		order.Timeline = append(order.Timeline, restoredEntry{Type: entry.Type, Status: entry.Status, By: entry.Actor, At: entry.At})
		order.Status = entry.Status
	}
	return order
}

// The check of a restored copy finds what is missing, and what should not be there.
func TestCheckRestored(t *testing.T) {
	t.Parallel()
	const created, received = "created:registered:store", "received:received:operator"
	began := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		acknowledged, moved time.Duration // relative to the beginning of the copy
		endsAt              time.Time
		copied              *restoredOrder
		broken              string
	}{
		"there":                                  {-2 * time.Second, -time.Second, time.Time{}, restoredTimeline(created, received), ""},
		"lost":                                   {-2 * time.Second, -time.Second, time.Time{}, nil, invariantRestored},
		"a move is lost":                         {-2 * time.Second, -time.Second, time.Time{}, restoredTimeline(created), invariantRestored},
		"moved after the copy":                   {-2 * time.Second, time.Second, time.Time{}, restoredTimeline(created), ""},
		"created after the copy":                 {time.Second, 2 * time.Second, time.Time{}, nil, ""},
		"created before the point in time, lost": {time.Second, 2 * time.Second, began.Add(3 * time.Second), nil, invariantRestored},
		"created after the point in time":        {5 * time.Second, 6 * time.Second, began.Add(3 * time.Second), restoredTimeline(created), invariantTarget},
		"an impossible timeline":                 {-2 * time.Second, time.Second, time.Time{}, restoredTimeline(created, "delivered:delivered:operator"), invariantTimelines},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracked := (&ledger{}).open("key", "delivered", nil, false)
			tracked.id, tracked.requestedAt, tracked.acknowledgedAt = "1", began.Add(test.acknowledged-time.Millisecond), began.Add(test.acknowledged)
			tracked.moves = []acknowledgedMove{{models.MoveReceive, began.Add(test.moved)}}
			report := newReport(Options{Out: io.Discard})
			d := &drill{stack: &stack{report: report, ledger: &ledger{orders: []*trackedOrder{tracked}}}, name: "test", backupBegan: began, endsAt: test.endsAt}
			orders := map[string]*restoredOrder{}
			if test.copied != nil {
				orders["1"] = test.copied
			}
			d.checkRestored(orders)
			require.Equal(t, test.broken != "", report.broken())
			if test.broken != "" {
				require.NotEmpty(t, report.invariant(test.broken).Broken)
			}
		})
	}
}
