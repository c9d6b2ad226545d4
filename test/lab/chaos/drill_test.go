package chaos

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
)

func restoredOrder(words ...string) *dbState {
	entries := timeline(words...)
	last := entries[len(entries)-1]
	row := &orderRow{ID: "1", Status: last.Status, Seq: last.Seq}
	return &dbState{orders: []*orderRow{row}, byID: map[string]*orderRow{"1": row}, timelines: map[string][]entryRow{"1": entries}}
}

// The check of a restored copy finds what is missing, and what should not be there.
func TestCheckRestored(t *testing.T) {
	t.Parallel()
	const created, received = "created:registered:store", "received:received:operator"
	began := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		acknowledged, moved time.Duration // relative to the beginning of the copy
		endsAt              time.Time
		copied              *dbState
		broken              string
	}{
		"there":                                  {-2 * time.Second, -time.Second, time.Time{}, restoredOrder(created, received), ""},
		"lost":                                   {-2 * time.Second, -time.Second, time.Time{}, &dbState{}, invariantRestored},
		"a move is lost":                         {-2 * time.Second, -time.Second, time.Time{}, restoredOrder(created), invariantRestored},
		"moved after the copy":                   {-2 * time.Second, time.Second, time.Time{}, restoredOrder(created), ""},
		"created after the copy":                 {time.Second, 2 * time.Second, time.Time{}, &dbState{}, ""},
		"created before the point in time, lost": {time.Second, 2 * time.Second, began.Add(3 * time.Second), &dbState{}, invariantRestored},
		"created after the point in time":        {5 * time.Second, 6 * time.Second, began.Add(3 * time.Second), restoredOrder(created), invariantTarget},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracked := (&ledger{}).open("key", "delivered", nil, false)
			tracked.id, tracked.requestedAt, tracked.acknowledgedAt = "1", began.Add(test.acknowledged-time.Millisecond), began.Add(test.acknowledged)
			tracked.moves = []acknowledgedMove{{models.MoveReceive, began.Add(test.moved)}}
			report := newReport(Options{Out: io.Discard})
			d := &drill{stack: &stack{report: report, ledger: &ledger{orders: []*trackedOrder{tracked}}}, name: "test", backupBegan: began, endsAt: test.endsAt}
			d.checkRestored(test.copied)
			require.Equal(t, test.broken != "", report.broken())
			if test.broken != "" {
				require.NotEmpty(t, report.invariant(test.broken).Broken)
			}
		})
	}
}
