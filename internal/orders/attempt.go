package orders

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
	"despacho/workflows"
)

// Fail records that the delivery of an order was tried and failed. The order stays with its rider.
func (s *Service) Fail(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object, photo []byte) (*View, error) {
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	failed := ReadFailure(in, caller.Operator.Rules, photo != nil)
	failed.ExpectedSeq = in.Int(ExpectedVersion)
	failed.OccurredAt = in.Time("occurred_at")
	failed.Lat, failed.Lng = readPoint(in, "lat", "lng")
	if err := in.Err(); err != nil {
		return nil, err
	}
	return s.moveWithPhoto(ctx, caller, order, failed, photo)
}

// ReadFailure reads why an attempt failed, under the operator's rules.
func ReadFailure(in *jsonbody.Object, rules models.Rules, hasPhoto bool) models.Message {
	reasons := make([]string, 0, len(models.FailureReasons))
	for _, reason := range rules.Reasons() {
		reasons = append(reasons, string(reason))
	}
	failed := models.Message{Move: models.MoveFail}
	if reason := in.Enum("reason", reasons...); reason != nil {
		failed.Reason = *reason
	} else if !in.Has("reason") {
		in.AddError("reason", jsonbody.MissingMessage)
	}
	if note := in.Lines("note", models.MaxCancelNote); note != nil {
		failed.Note = *note
	}
	reason := models.FailureReason(failed.Reason)
	if failed.Note == "" && rules.NeedsNote(reason) {
		in.AddError("note", "es obligatoria con este motivo")
	}
	if !hasPhoto && rules.NeedsPhotoFor(reason) {
		in.AddError("photo", "es obligatoria con este motivo")
	}
	return failed
}

// moveWithPhoto moves an order with a photo that belongs to the move, nil for none. The photo of a
// move that is refused is not kept.
func (s *Service) moveWithPhoto(
	ctx context.Context, caller Caller, order *models.OrderView, message models.Message, photo []byte,
) (*View, error) {
	if photo != nil {
		if err := requireMove(caller, order, message.Move); err != nil {
			return nil, err
		}
		if err := s.savePhoto(ctx, caller, order.ID, photo, &message); err != nil {
			return nil, err
		}
	}
	view, err := s.moveOrder(ctx, caller, order, message, photoHash(photo))
	if message.Photo != "" && (isDefiniteRefusal(err) || view != nil && !view.refersTo(message.Photo)) {
		s.discardPhoto(ctx, message.Photo)
	}
	return view, err
}

// requireMove refuses a move that the order's state does not allow, before its photo costs any
// work.
func requireMove(caller Caller, order *models.OrderView, move models.Move) error {
	if _, verdict := order.State().Decide(move, caller.Actor(), nil); verdict == models.Refused {
		return moveRefused(move, order.Status)
	}
	return nil
}

// applyFailure adds an attempt to an order, with what it costs. From now on somebody may decide
// what comes next.
func applyFailure(order *models.Order, rules models.Rules, fee money.Cents, message *models.Message, at time.Time) {
	due := clock.Normalize(at.Add(rules.DecisionTime()))
	order.DecisionDeadline = &due
	order.Attempts = append(slices.Clone(order.Attempts), models.Attempt{
		Number: len(order.Attempts) + 1, Reason: models.FailureReason(message.Reason), Note: message.Note, RiderID: order.RiderID,
		Photo: message.Photo, Lat: message.Lat, Lng: message.Lng, OccurredAt: occurredAt(order, message, at), RecordedAt: at,
		Fee: fee,
	})
}

// undecided is what waits to be decided about an order; nil if nothing does.
func undecided(order *models.Order, rules models.Rules) *workflows.Decision {
	if !order.State().Substatus.Undecided() || order.DecisionDeadline == nil {
		return nil
	}
	return &workflows.Decision{Due: order.DecisionDeadline.UTC(), Move: rules.NextStep(len(order.Attempts))}
}

// nextAttemptDay is the operator's next day of deliveries.
func nextAttemptDay(operator *models.Operator, at time.Time) string {
	return operator.Rules.NextDays(at.In(operator.TimeZone()), 1)[0].Format(time.DateOnly)
}
