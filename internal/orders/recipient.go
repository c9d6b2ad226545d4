package orders

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/maplink"
	"despacho/internal/numeral"
	"despacho/models"
)

const (
	// recipientPurpose is what the recipient's links are signed for.
	recipientPurpose = "recipient's decision"
	// recipientDays is how many of the operator's next days the recipient chooses from.
	recipientDays = 6
	// maxRecipientReference is shorter than a reference may be: it is added to the store's.
	maxRecipientReference = 200
)

// RecipientLink is the address where the recipient of an order says how the next attempt succeeds;
// empty unless somebody has yet to decide. Its signature names the order and the attempt that
// failed, and holds until the deadline.
func (s *Service) RecipientLink(order *models.Order) string {
	if !order.State().Substatus.Undecided() || order.DecisionDeadline == nil {
		return ""
	}
	key := s.options.Signer.Sign(recipientPurpose, recipientPayload(order.ID.String(), len(order.Attempts)), *order.DecisionDeadline)
	return s.options.BaseURL + RecipientPath(order.GuideCode) + "?k=" + url.QueryEscape(key)
}

// RecipientPath is the path of a RecipientLink.
func RecipientPath(guideCode string) string { return "/track/" + guideCode + "/ayuda" }

func recipientPayload(orderID string, attempt int) []byte {
	return []byte(orderID + " " + strconv.Itoa(attempt))
}

// LinkState is what a RecipientLink still does.
type LinkState int

// A link is nobody's, is over because its time is, is over because somebody has decided, can do
// nothing while the operator is suspended, or is open.
const (
	LinkUnknown LinkState = iota
	LinkExpired
	LinkUsed
	LinkSuspended
	LinkOpen
)

// RecipientLinkState is the state of the link with a key to the page of an order.
func (s *Service) RecipientLinkState(tracked *Tracked, key string) LinkState {
	payload, until, ok := s.options.Signer.Read(recipientPurpose, key)
	order, attempt, _ := strings.Cut(string(payload), " ")
	switch {
	case !ok || order != tracked.ID.String():
		return LinkUnknown
	case tracked.Substatus == nil || !tracked.Substatus.Undecided() || attempt != strconv.Itoa(len(tracked.Attempts)):
		return LinkUsed
	case !s.clock.Now().Before(until):
		return LinkExpired
	case tracked.SuspendedAt != nil:
		return LinkSuspended
	}
	return LinkOpen
}

// RecipientDays are the days that the recipient of an order may choose.
func (s *Service) RecipientDays(tracked *Tracked) []time.Time {
	return tracked.Rules.NextDays(s.clock.Now().In(tracked.TimeZone()), recipientDays)
}

// DecideByRecipient plans another attempt as the recipient asks for it: on another of the
// operator's days, with a reference and a point besides. What is wrong with a field never says what
// the page of the package does not show, such as how far a point is from the address.
func (s *Service) DecideByRecipient(ctx context.Context, tracked *Tracked, in *jsonbody.Object) error {
	operator, err := s.db.Operator(ctx, tracked.OperatorID)
	if err != nil {
		return err
	}
	caller := Caller{Operator: operator, Test: tracked.Test, Recipient: true}
	order, err := s.Find(ctx, caller, tracked.ID)
	if err != nil {
		return err
	}
	decided := decision{Message: models.Message{Move: models.MoveRetry, On: in.RequiredText("on", len(time.DateOnly))}}
	if !slices.ContainsFunc(s.RecipientDays(tracked), func(day time.Time) bool { return day.Format(time.DateOnly) == decided.On }) {
		in.AddError("on", "elige uno de los días")
	}
	changes := map[string]any{}
	if reference := in.Lines("reference", maxRecipientReference); reference != nil {
		changes["delivery_reference"] = withReference(order.DeliveryReference, *reference)
	}
	point, err := s.readRecipientPoint(ctx, operator, in)
	if err != nil {
		return err
	}
	if point != nil {
		changes["delivery_lat"], changes["delivery_lng"] = point.Lat, point.Lng
	}
	if err := in.Err(); err != nil {
		return err
	}
	text, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	corrections, err := jsonbody.Parse(text)
	if err != nil {
		return err
	}
	decided.corrects = len(changes) > 0
	_, err = s.decideWith(ctx, caller, order, corrections, decided)
	return err
}

// readRecipientPoint reads the point that the phone or a map link gives; nil if there is none.
func (s *Service) readRecipientPoint(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*maplink.Point, error) {
	bounds, _ := maplink.Country(operator.CountryCode)
	link := in.Text("map", maxLink)
	lat, lng := readPoint(in, "lat", "lng")
	if in.Err() != nil {
		return nil, nil
	}
	if lat != nil && lng != nil {
		if !bounds.Contains(*lat, *lng) {
			in.AddError("map", recipientPointProblem)
		}
		return &maplink.Point{Lat: *lat, Lng: *lng}, nil
	}
	if link == nil {
		return nil, nil
	}
	point, unread, err := s.resolveLink(ctx, numeral.Pair(*link), bounds)
	if err != nil {
		return nil, err
	}
	if unread != nil {
		in.AddError("map", recipientPointProblem)
	}
	return &point, nil
}

const recipientPointProblem = "ahí no encontramos un punto: copia el enlace otra vez desde el mapa, o déjalo vacío"

// withReference adds what the recipient says to the reference that the store gave. One that would
// be too long is the recipient's alone: the history keeps the other.
func withReference(given *string, added string) string {
	switch {
	case given == nil:
		return added
	case strings.Contains(*given, added):
		return *given
	}
	if both := *given + "\n" + added; len([]rune(both)) <= maxReference {
		return both
	}
	return added
}

// IsDecided reports whether an error means that somebody has decided meanwhile.
func IsDecided(err error) bool { return apperror.From(err).Code == ErrMoveRefused.Code }
