package chaos

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
)

// timeline makes entries of words such as "created:registered:store".
func timeline(words ...string) (entries []entryRow) {
	for i, word := range words {
		parts := strings.Split(word, ":")
		entries = append(entries, entryRow{Seq: i + 1, Type: parts[0], Status: models.Status(parts[1]), Actor: models.Actor(parts[2]), At: time.Unix(100, 0)})
	}
	return entries
}

// The checks find the violations that they are for.
func TestReplay(t *testing.T) {
	t.Parallel()
	const created, received, assigned = "created:registered:store", "received:received:operator", "assigned:assigned:operator"
	delivered := timeline(created, received, assigned, assigned, "delivered:delivered:operator")
	revived := timeline(created, "cancelled:cancelled:auto", received)
	const handedOver, failed, undone = "delivered:delivered:rider", "attempt_failed:assigned:rider", "undone:assigned:operator"
	gap := timeline(created, received)
	gap[1].Seq = 3
	for name, test := range map[string]struct {
		status   models.Status
		timeline []entryRow
		timer    time.Time
		want     string
	}{
		"a delivery":                     {models.StatusDelivered, delivered, time.Time{}, ""},
		"a delivery that is taken back":  {models.StatusAssigned, timeline(created, received, assigned, handedOver, undone), time.Time{}, ""},
		"an attempt that is taken back":  {models.StatusAssigned, timeline(created, received, assigned, failed, undone), time.Time{}, ""},
		"taken back to where it was not": {models.StatusReceived, timeline(created, received, assigned, handedOver, "undone:received:operator"), time.Time{}, "which the table does not have"},
		"taken back twice":               {models.StatusAssigned, timeline(created, received, assigned, handedOver, undone, undone), time.Time{}, "takes back undone"},
		"a store takes back":             {models.StatusAssigned, timeline(created, received, assigned, handedOver, "undone:assigned:store"), time.Time{}, "which the table does not have"},
		"another substatus":              {models.StatusAssigned, timeline(created, received, assigned, failed), time.Time{}, "the timeline ends as"},
		"a revival":                      {models.StatusReceived, revived, time.Time{}, ""},
		"nothing at all":                 {models.StatusRegistered, nil, time.Time{}, "does not begin with the creation"},
		"a gap":                          {models.StatusReceived, gap, time.Time{}, "entry 2 has the number 3"},
		"a step left out":                {models.StatusAssigned, timeline(created, assigned), time.Time{}, "which the table does not have"},
		"moved after a cancel":           {models.StatusReceived, timeline(created, "cancelled:cancelled:store", received), time.Time{}, "which the table does not have"},
		"the store cancels late":         {models.StatusCancelled, timeline(created, received, "cancelled:cancelled:store"), time.Time{}, "which the table does not have"},
		"the timer is early":             {models.StatusReceived, revived, time.Unix(101, 0), "before its time"},
		"another row":                    {models.StatusRegistered, delivered, time.Time{}, "the row says registered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := replay(&orderRow{Status: test.status, Seq: len(test.timeline), AutoCancelAt: test.timer}, test.timeline)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestMaxRevivals(t *testing.T) {
	t.Parallel()
	const created, received, cancelled = "created:registered:store", "received:received:operator", "cancelled:cancelled:auto"
	for name, test := range map[string]struct {
		timeline    []entryRow
		unconfirmed int
		want        int
	}{
		"never cancelled":                 {timeline(created, received), 2, 0},
		"cancelled":                       {timeline(created, cancelled), 0, 0},
		"cancelled, and asked to receive": {timeline(created, cancelled), 2, 2},
		"revived at once":                 {timeline(created, cancelled, received), 0, 1},
		"taken back after its end":        {timeline(created, received, "delivered:delivered:rider", "undone:assigned:operator"), 1, 2},
		"revived when it was asked again": {timeline(created, cancelled, received), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, maxRevivals(test.timeline, test.unconfirmed))
		})
	}
}

func checkOf(orders ...*trackedOrder) *checker {
	return &checker{
		stack:   &stack{report: newReport(Options{Out: io.Discard}), ledger: &ledger{orders: orders}},
		dbState: &dbState{byID: map[string]*orderRow{}, timelines: map[string][]entryRow{}, deliveries: map[string][]deliveryRow{}}, tally: map[string]int{},
	}
}

func TestCheckMoves_acknowledgedLostAndUnasked(t *testing.T) {
	t.Parallel()
	const created, received = "created:registered:store", "received:received:operator"
	for name, test := range map[string]struct {
		done, unknown int
		timeline      []entryRow
		broken        bool
	}{
		"made and acknowledged":                      {1, 0, timeline(created, received), false},
		"acknowledged and lost":                      {1, 0, timeline(created), true},
		"never confirmed, and made":                  {0, 1, timeline(created, received), false},
		"never confirmed, and not made":              {0, 1, timeline(created), false},
		"made without anybody having asked for it":   {0, 0, timeline(created, received), true},
		"made by the timer, which nobody has to ask": {0, 0, timeline(created, "cancelled:cancelled:auto"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracked := (&ledger{}).open("key", "delivered", nil, false)
			tracked.id, tracked.finished = "order", true
			tracked.done[models.MoveReceive], tracked.unknown[models.MoveReceive] = test.done, test.unknown
			check := checkOf(tracked)
			check.timelines["order"] = test.timeline
			require.NoError(t, checkMoves(t.Context(), check))
			require.Equal(t, test.broken, check.report.broken())
		})
	}
}

func TestCheckDeliveries_heardTwicePendingAndMissing(t *testing.T) {
	t.Parallel()
	both := func(status models.WebhookDeliveryStatus) []deliveryRow {
		return []deliveryRow{
			{ID: "once", OrderID: "1", OrderSeq: 1, Event: "order.created", Status: status},
			{ID: "again", OrderID: "1", OrderSeq: 1, Event: "order.created", Status: status, Retry: true},
		}
	}
	for name, test := range map[string]struct {
		rows        []deliveryRow
		once, again int
		broken      string
	}{
		"received":                        {both(models.WebhookDeliveryDelivered), 1, 1, ""},
		"received twice where it may be":  {both(models.WebhookDeliveryDelivered), 1, 2, ""},
		"received twice where it may not": {both(models.WebhookDeliveryDelivered), 2, 1, invariantOnce},
		"failed":                          {both(models.WebhookDeliveryFailed), 0, 0, ""},
		"marked delivered, not received":  {both(models.WebhookDeliveryDelivered), 1, 0, invariantHeard},
		"pending":                         {both(models.WebhookDeliveryPending), 0, 0, invariantSettled},
		"missing":                         {both(models.WebhookDeliveryFailed)[:1], 0, 0, invariantOutbox},
		"told twice":                      {append(both(models.WebhookDeliveryFailed), both(models.WebhookDeliveryFailed)...), 0, 0, invariantOutbox},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf()
			check.receivers = &receivers{received: map[string]map[string]int{hookWithoutRetries: {"once": test.once}, hookWithRetries: {"again": test.again}}}
			check.orders = []*orderRow{{ID: "1"}}
			check.timelines["1"] = timeline("created:registered:store")
			check.deliveries = map[string][]deliveryRow{"1": test.rows}
			require.NoError(t, checkDeliveries(t.Context(), check))
			require.Equal(t, test.broken != "", check.report.broken())
			if test.broken != "" {
				require.NotEmpty(t, check.report.invariant(test.broken).Broken)
			}
		})
	}
}

// The events of a failed attempt and of the way back go to the webhook that asks for them alone.
func TestCheckDeliveries_onlyToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		once, again []models.Event
		broken      bool
	}{
		"as asked for":              {[]models.Event{models.EventCancelled}, []models.Event{models.EventReturned, models.EventCancelled}, false},
		"to one that has not asked": {[]models.Event{models.EventCancelled, models.EventReturned}, []models.Event{models.EventReturned, models.EventCancelled}, true},
		"not to one that has":       {[]models.Event{models.EventCancelled}, []models.Event{models.EventCancelled}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf()
			check.receivers = &receivers{}
			check.orders = []*orderRow{{ID: "1"}}
			check.timelines["1"] = timeline("created:registered:store", "returned:cancelled:operator")[1:]
			for retry, events := range map[bool][]models.Event{false: test.once, true: test.again} {
				for _, event := range events {
					check.deliveries["1"] = append(check.deliveries["1"], deliveryRow{OrderID: "1", OrderSeq: 2, Event: string(event),
						Status: models.WebhookDeliveryFailed, Retry: retry})
				}
			}
			require.NoError(t, checkDeliveries(t.Context(), check))
			require.Equal(t, test.broken, check.report.broken())
		})
	}
}

func TestCheckArrivals_inOrder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arrivals []string
		broken   bool
	}{
		"in order":                  {[]string{"created", "assigned", "delivered"}, false},
		"one never came":            {[]string{"created", "delivered"}, false},
		"one came after its sequel": {[]string{"created", "delivered", "assigned"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf()
			check.orders = []*orderRow{{ID: "1"}}
			check.deliveries = map[string][]deliveryRow{"1": {
				{ID: "created", OrderID: "1", OrderSeq: 1}, {ID: "assigned", OrderID: "1", OrderSeq: 3}, {ID: "delivered", OrderID: "1", OrderSeq: 4},
			}}
			check.receivers = &receivers{arrivals: map[string][]string{hookWithoutRetries: test.arrivals}}
			check.checkArrivals()
			require.Equal(t, test.broken, check.report.broken())
		})
	}
}

// An act is in the timeline as its phone was told: made once, or refused and kept, and never both.
func TestCheckActs(t *testing.T) {
	t.Parallel()
	order := uuid.New()
	act := &trackedAct{id: uuid.New(), move: models.MoveDeliver}
	made := entryRow{ID: act.entryID(order), Actor: models.ByRider}
	kept := entryRow{ID: act.refusalID(order), Actor: models.ByRider, Type: models.TimelineActRefused}
	for name, test := range map[string]struct {
		outcome          string
		timeline, refuse []entryRow
		broken           bool
	}{
		"made":                          {actDone, []entryRow{made}, nil, false},
		"refused and kept":              {actRefused, nil, []entryRow{kept}, false},
		"never answered, and made":      {"", []entryRow{made}, nil, false},
		"never answered, not made":      {"", nil, nil, false},
		"told that it was made, lost":   {actDone, nil, nil, true},
		"made twice":                    {actDone, []entryRow{made, made}, nil, true},
		"refused, and not kept":         {actRefused, nil, nil, true},
		"made, and kept as refused":     {actDone, []entryRow{made}, []entryRow{kept}, true},
		"a move that no phone has sent": {actDone, []entryRow{made, {ID: uuid.New(), Actor: models.ByRider}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf(&trackedOrder{id: order.String(), acts: []*trackedAct{{id: act.id, move: act.move, outcome: test.outcome}}})
			check.timelines[order.String()] = test.timeline
			check.refusals = map[string][]entryRow{order.String(): test.refuse}
			require.NoError(t, checkActs(t.Context(), check))
			require.Equal(t, test.broken, check.report.broken())
		})
	}
}
