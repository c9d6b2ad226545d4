package panel

import (
	"time"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/models"
)

// attemptRow is a failed attempt on the order's page.
type attemptRow struct {
	orders.AttemptView
	// Rider is empty for a store's user.
	Rider string
	Point *mapPoint
	// Recorded is when the service heard of it, if that was later.
	Recorded *time.Time
}

// attemptRows are the failed attempts, with the names of the riders as far as the timeline tells
// them.
func attemptRows(v *Request, details *orders.OrderPage) []attemptRow {
	names := map[uuid.UUID]string{}
	for _, entry := range details.Timeline {
		if entry.RiderID != nil && v.Caller.StoreID == nil {
			names[*entry.RiderID] = orEmpty(entry.RiderName)
		}
	}
	var rows []attemptRow
	for _, attempt := range details.Order.FailedAttempts {
		row := attemptRow{AttemptView: attempt, Point: pointOf(attempt.Lat, attempt.Lng, "")}
		if attempt.RiderID != nil {
			row.Rider = names[*attempt.RiderID]
		}
		if attempt.RecordedAt.Sub(attempt.OccurredAt) >= recordedLater {
			row.Recorded = &attempt.RecordedAt
		}
		rows = append(rows, row)
	}
	return rows
}

// NextStep says what was decided after the last failed attempt, or until when somebody may; empty
// where there is nothing to say.
func (f *frame) NextStep(order *orders.View) string { return nextStep(f.zone, order) }

func nextStep(zone *time.Location, order *orders.View) string {
	if order.Substatus == nil {
		return ""
	}
	switch *order.Substatus {
	case models.SubstatusRetryPlanned:
		if order.NextAttemptOn != nil {
			return "se intenta el " + format.LongDay(*order.NextAttemptOn)
		}
	case models.SubstatusReturning:
		return "por devolver a la tienda"
	case models.SubstatusReturned:
		return "la tienda lo tiene"
	}
	if order.Substatus.Undecided() && order.DecisionDeadline != nil {
		until := order.DecisionDeadline.In(zone)
		return "falta decidir, hasta el " + format.Weekday(until.Weekday()) + " " + until.Format("02/01 15:04")
	}
	return ""
}
