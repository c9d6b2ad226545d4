package models

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
)

// Message requests a move of an order. It is sent as an update or, from the Temporal UI, as a
// signal, which has the name of the move. Most members are of some moves only.
type Message struct {
	// Move is the requested move. On the wire it is the name of the update or of the signal.
	Move Move `json:"-"`
	// By is who requests the move; empty is the operator. A signal is always the operator's.
	By Actor `json:"by,omitempty"`
	// ExpectedSeq is the Seq at which the order must still be; nil accepts any. So a move does not
	// undo another that its sender has not seen.
	ExpectedSeq *int `json:"expected_seq,omitempty"`

	// Reason and Note are those of a cancel, of a failed attempt, whose reason is a FailureReason, and
	// of what is taken back. OnlyRegistered refuses a cancel once the package was received, as the API
	// requires.
	Reason         string `json:"reason,omitempty"`
	Note           string `json:"note,omitempty"`
	OnlyRegistered bool   `json:"only_registered,omitempty"`

	// BranchID is where the package was received, if that is not the expected branch.
	BranchID *uuid.UUID `json:"branch_id,omitempty"`

	// RiderID is who the order is assigned to.
	RiderID *uuid.UUID `json:"rider_id,omitempty"`

	// These are of a delivery: what was collected, by which ways, and who took the package.
	ActualAmountCollected *money.Cents `json:"actual_amount_collected,omitempty"`
	Collections           Collections  `json:"collections,omitempty"`
	ReceivedBy            string       `json:"received_by,omitempty"`

	// These are of a delivery and of a failed attempt: the photo, and where it was made.
	Photo      string     `json:"photo,omitempty"`
	CapturedAt *time.Time `json:"captured_at,omitempty"`
	Lat        *float64   `json:"lat,omitempty"`
	Lng        *float64   `json:"lng,omitempty"`

	// OccurredAt is when a rider has made the move, nil is now. ClockOff is by how many seconds the
	// clock of the phone is wrong, if by much.
	OccurredAt *time.Time `json:"occurred_at,omitempty"`
	ClockOff   *int       `json:"clock_off,omitempty"`

	// On is the date YYYY-MM-DD of the next attempt; empty is the operator's next day.
	On string `json:"on,omitempty"`

	// EntryID is the id of the timeline entry of a move that is made once, however often it is asked
	// for; nil derives it from the request.
	EntryID *uuid.UUID `json:"entry_id,omitempty"`

	// Deadline is the time after which the move must not be made, because the requester has stopped
	// waiting. A signal has none: it waits for the database.
	Deadline *time.Time `json:"deadline,omitempty"`
	Requester
}

// Requester is who requests a move: a panel user, an API key or a rider. A signal has none: whoever
// sent it is not known to the service.
type Requester struct {
	UserID *uuid.UUID `json:"user_id,omitempty"`
	KeyID  *uuid.UUID `json:"key_id,omitempty"`
	// ByRiderID is the rider who makes the move. The order must be with this rider.
	ByRiderID *uuid.UUID `json:"by_rider_id,omitempty"`
}

// Limits of a move's texts, in characters.
const (
	MaxCancelReason = 255
	MaxCancelNote   = 1000
	MaxReceivedBy   = 200
)

// Rider is the rider of an assignment, nil for the other moves.
func (m Message) Rider() *uuid.UUID {
	if m.Move != MoveAssign {
		return nil
	}
	return m.RiderID
}

// Decide checks a requested move against an order's state and Seq, and returns the state after it.
// changed means that the state allows the move, and it is refused because the message is outdated.
func (m Message) Decide(by Actor, seq int, state State) (after State, verdict Verdict, changed bool) {
	after, verdict = state.Decide(m.Move, by, m.Rider())
	switch {
	case verdict == Refused || m.OnlyRegistered && state.Status != StatusRegistered || m.isOtherRiders(state):
		return state, Refused, false
	case m.outdated(seq, state.RiderID):
		return state, Refused, true
	}
	return after, verdict, false
}

// isOtherRiders reports whether a rider asks for a move of an order that is with somebody else.
func (m Message) isOtherRiders(state State) bool {
	return m.ByRiderID != nil && (state.RiderID == nil || *state.RiderID != *m.ByRiderID)
}

// outdated reports whether an order with this Seq and rider has changed since the sender saw it. An
// order that has the rider of an assignment already is as the sender wants it.
func (m Message) outdated(seq int, rider *uuid.UUID) bool {
	hasRider := m.Rider() != nil && rider != nil && *rider == *m.RiderID
	return m.ExpectedSeq != nil && *m.ExpectedSeq != seq && !hasRider
}

// Fingerprint distinguishes requests of the same move by their content.
func (m Message) Fingerprint() string {
	return fmt.Sprintf("%q %q %q %s %s %s %s %s %s %q %q %s", m.Reason, m.Note, m.Photo,
		text(m.BranchID), text(m.RiderID), text(m.ActualAmountCollected), text(m.Lat), text(m.Lng), text(m.ExpectedSeq),
		fingerprintOf(m.Collections), m.ReceivedBy, m.On)
}

func fingerprintOf(collections Collections) (parts []string) {
	for _, c := range collections {
		parts = append(parts, fmt.Sprintf("%s %s %q", c.Method, c.Amount, text(c.Reference)))
	}
	return parts
}

// text is a value as text; empty for nil.
func text[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}

// Actor is who requests the move.
func (m Message) Actor() Actor {
	if m.By == "" {
		return ByOperator
	}
	return m.By
}

// Problem says what is wrong with the content, in Spanish; empty if nothing is.
func (m Message) Problem() string {
	var rider, captured, point string
	if m.Move == MoveAssign && m.RiderID == nil {
		rider = jsonbody.MissingMessage
	}
	if m.CapturedAt != nil && !clock.InRange(*m.CapturedAt) {
		captured = clock.RangeMessage
	}
	if (m.Lat == nil) != (m.Lng == nil) || !within(m.Lat, 90) || !within(m.Lng, 180) {
		point = "debe ser un punto con lat entre -90 y 90 y lng entre -180 y 180"
	}
	return firstProblem("reason", m.reasonProblem(), "note", jsonbody.LinesProblem(m.Note, MaxCancelNote),
		"rider_id", rider, "captured_at", captured, "lat", point, "on", m.dayProblem(),
		"received_by", jsonbody.LinesProblem(m.ReceivedBy, MaxReceivedBy), "collections", m.collectionsProblem())
}

func (m Message) reasonProblem() string {
	switch {
	case m.Move == MoveFail && !slices.Contains(FailureReasons, FailureReason(m.Reason)):
		return "debe ser uno de los motivos de un intento fallido"
	case m.Move == MoveUndo && m.Reason == "":
		return jsonbody.MissingMessage
	}
	return jsonbody.LinesProblem(m.Reason, MaxCancelReason)
}

func (m Message) dayProblem() string {
	if m.On == "" {
		return ""
	}
	if day, err := time.Parse(time.DateOnly, m.On); err != nil || !clock.InRange(day) {
		return "debe ser una fecha YYYY-MM-DD"
	}
	return ""
}

func (m Message) collectionsProblem() string {
	for _, c := range m.Collections {
		if !slices.Contains(Methods, c.Method) || c.Amount < 0 || c.Amount > money.Max {
			return "debe tener en cada parte una forma de pago conocida y un monto"
		}
		if c.Reference != nil {
			if problem := jsonbody.LinesProblem(*c.Reference, MaxReference); problem != "" {
				return problem
			}
		}
	}
	if m.ActualAmountCollected != nil && len(m.Collections) > 0 && m.Collections.Total() != *m.ActualAmountCollected {
		return "no suma lo cobrado"
	}
	return ""
}

// within reports whether a coordinate is between -limit and limit; NaN is not.
func within(coordinate *float64, limit float64) bool {
	return coordinate == nil || (*coordinate >= -limit && *coordinate <= limit)
}

// firstProblem returns the first problem of alternating field names and problems.
func firstProblem(pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			return strings.Join(pairs[i:i+2], " ")
		}
	}
	return ""
}
