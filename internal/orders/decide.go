package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// What can be decided after a failed attempt.
const (
	DecisionRetry  = "retry"
	DecisionChange = "change"
	DecisionReturn = "return"
)

// decision is what comes next after a failed attempt.
type decision struct {
	models.Message
	// corrects means that the request also has what the order gets instead.
	corrects bool
}

// Decide decides what comes next after a failed attempt: another one on the next day or on a date,
// another one with what the request corrects, or the way back to the store. The store decides once,
// while nobody has; the operator may change the decision until the package is handed over.
func (s *Service) Decide(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object) (*View, error) {
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	decided := s.readDecision(in, caller.Operator)
	if err := in.Err(); err != nil {
		return nil, err
	}
	return s.decideWith(ctx, caller, order, in, decided)
}

func (s *Service) decideWith(
	ctx context.Context, caller Caller, order *models.OrderView, in *jsonbody.Object, decided decision,
) (*View, error) {
	decided.By = caller.Actor()
	if _, err := decide(decided.Message, decided.By, order); err != nil {
		return nil, err
	}
	if decided.corrects {
		if err := s.correctForRetry(ctx, caller, order.ID, in); err != nil {
			return nil, err
		}
	}
	return s.moveOrder(ctx, caller, order, decided.Message, "")
}

// correctForRetry corrects where and how the recipient is reached. Whoever decides may do so, also
// a store whose package is with the operator.
func (s *Service) correctForRetry(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object) error {
	deciding := caller
	deciding.decides = true
	corrected, err := s.readCorrection(ctx, deciding, id, in.Only(retryMembers...))
	if err != nil {
		return err
	}
	_, err = s.correct(ctx, deciding, corrected, CorrectionPrecondition{})
	return err
}

// retryMembers are the members of a correction that a decision may have.
var retryMembers = []string{
	"delivery_address", "delivery_reference", "recipient_phone", "delivery_lat", "delivery_lng", "delivery_maps_url",
}

func (s *Service) readDecision(in *jsonbody.Object, operator *models.Operator) decision {
	decided := decision{Message: models.Message{Move: models.MoveRetry, ExpectedSeq: in.Int(ExpectedVersion)}}
	word := in.Enum("decision", DecisionRetry, DecisionChange, DecisionReturn)
	switch {
	case word == nil && !in.Has("decision"):
		in.AddError("decision", jsonbody.MissingMessage)
	case word == nil:
	case *word == DecisionReturn:
		decided.Move = models.MoveReturn
	case *word == DecisionChange:
		if decided.corrects = hasAny(in, retryMembers); !decided.corrects {
			in.AddError("decision", "con change indique qué cambia: la dirección, la referencia, el teléfono o el punto")
		}
	}
	if note := in.Lines("note", models.MaxCancelNote); note != nil {
		decided.Note = *note
	}
	if decided.Move == models.MoveRetry {
		decided.On = readDay(in, "on", operator, s.clock.Now())
	}
	return decided
}

func hasAny(in *jsonbody.Object, members []string) bool {
	for _, member := range members {
		if in.HasOrNull(member) {
			return true
		}
	}
	return false
}

// maxDaysAhead is how far in the future an attempt may be planned.
const maxDaysAhead = 60

// readDay reads a date from today on in the operator's time zone; empty if there is none.
func readDay(in *jsonbody.Object, name string, operator *models.Operator, now time.Time) string {
	text := in.Text(name, len(time.DateOnly))
	if text == nil {
		return ""
	}
	zone := operator.TimeZone()
	day, err := time.ParseInLocation(time.DateOnly, *text, zone)
	today := clock.DayStart(now.In(zone), zone)
	switch {
	case err != nil:
		in.AddError(name, "debe ser una fecha YYYY-MM-DD")
	case day.Before(today):
		in.AddError(name, "debe ser hoy o un día que viene")
	case day.After(today.AddDate(0, 0, maxDaysAhead)):
		in.AddError(name, "debe ser un día de los próximos 60")
	case !operator.Rules.DeliversOn(day):
		in.AddError(name, "no es un día de reparto del operador")
	}
	return *text
}

// HandBack records that a package was given back to its store: the order is cancelled.
func (s *Service) HandBack(ctx context.Context, caller Caller, order *models.OrderView, note string) (*View, error) {
	return s.moveOrder(ctx, caller, order, models.Message{Move: models.MoveHandBack, Note: note}, "")
}
