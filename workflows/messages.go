package workflows

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// Message requests one move of an order: a Cancel, Received, Assigned or Delivered. It is sent as
// an update or, from the Temporal UI, as a signal.
type Message interface {
	// Move is the requested move; also the name of the update and of the signal.
	Move() models.Move
	// Rider is the rider of an assignment, nil for the other moves.
	Rider() *uuid.UUID
	// Fingerprint distinguishes requests of the same move by their content.
	Fingerprint() string
	// WithDeadline returns the message with a time after which the move must not be made.
	WithDeadline(at time.Time) Message
	// WithRequester returns the message with who requests it.
	WithRequester(by Requester) Message

	actor() models.Actor
	// outdated reports whether an order with this Seq and rider has changed since the sender saw it,
	// so that the move would undo a change that the sender does not know of.
	outdated(seq int, rider *uuid.UUID) bool
	// problem says what is wrong with the content, in Spanish; empty if nothing is.
	problem() string
	// expiresAt is the time after which the move must not be made; nil if there is none.
	expiresAt() *time.Time
	requester() Requester
	setContent(move *ApplyMoveInput)
}

// Decide checks a requested move against an order's state and Seq, and returns the status after it.
// changed means that the state allows the move, and it is refused because the message is outdated.
func Decide(message Message, by models.Actor, seq int, state models.State) (to models.Status, verdict models.Verdict, changed bool) {
	to, verdict = state.Decide(message.Move(), by, message.Rider())
	cancel, cancels := message.(Cancel)
	switch {
	case verdict == models.Refused || cancels && cancel.tooLate(state.Status):
		return state.Status, models.Refused, false
	case message.outdated(seq, state.RiderID):
		return state.Status, models.Refused, true
	}
	return to, verdict, false
}

// hasMoved reports whether an order with this Seq has moved since its sender saw it at the expected
// one; nil accepts any.
func hasMoved(expected *int, seq int) bool { return expected != nil && *expected != seq }

// Expiry is the deadline of a requested move. After it the requester has stopped waiting, so that
// the move must not be made. A signal has none: it waits for the database.
type Expiry struct {
	Deadline *time.Time `json:"deadline,omitempty"`
}

func (e Expiry) expiresAt() *time.Time { return e.Deadline }

// Requester is who requests a move: a panel user or an API key. A signal has none: whoever sent it
// is not known to the service.
type Requester struct {
	UserID *uuid.UUID `json:"user_id,omitempty"`
	KeyID  *uuid.UUID `json:"key_id,omitempty"`
}

func (r Requester) requester() Requester { return r }

// Limits of a cancellation's texts, in characters.
const (
	MaxCancelReason = 255
	MaxCancelNote   = 1000
)

// Cancel is the request to cancel an order. Sent as a signal, it counts as the operator's.
type Cancel struct {
	Reason string       `json:"reason,omitempty"`
	Note   string       `json:"note,omitempty"`
	By     models.Actor `json:"by,omitempty"`
	// OnlyRegistered refuses the cancel once the package was received, as the API requires.
	OnlyRegistered bool `json:"only_registered,omitempty"`
	// ExpectedSeq is the Seq at which the order must still be; nil accepts any.
	ExpectedSeq *int `json:"expected_seq,omitempty"`
	Expiry
	Requester
}

// Move implements Message.
func (Cancel) Move() models.Move { return models.MoveCancel }

// Rider implements Message.
func (Cancel) Rider() *uuid.UUID { return nil }

// Fingerprint implements Message.
func (m Cancel) Fingerprint() string {
	content := fmt.Sprintf("%q %q", m.Reason, m.Note)
	if m.ExpectedSeq != nil {
		content += fmt.Sprintf(" %d", *m.ExpectedSeq)
	}
	return content
}

func (m Cancel) outdated(seq int, _ *uuid.UUID) bool {
	return hasMoved(m.ExpectedSeq, seq)
}

// tooLate reports whether the cancel is limited to registered orders, and the status is another.
func (m Cancel) tooLate(status models.Status) bool {
	return m.OnlyRegistered && status != models.StatusRegistered
}

func (m Cancel) actor() models.Actor {
	if m.By == "" {
		return models.ByOperator
	}
	return m.By
}

func (m Cancel) problem() string {
	return firstProblem("reason", jsonbody.LinesProblem(m.Reason, MaxCancelReason), "note", jsonbody.LinesProblem(m.Note, MaxCancelNote))
}

// WithDeadline implements Message.
func (m Cancel) WithDeadline(at time.Time) Message {
	m.Deadline = &at
	return m
}

// WithRequester implements Message.
func (m Cancel) WithRequester(by Requester) Message {
	m.Requester = by
	return m
}

func (m Cancel) setContent(move *ApplyMoveInput) { move.Cancel = &m }

// Received is the reception of the package. BranchID is set if it was not the expected branch.
type Received struct {
	BranchID *uuid.UUID `json:"branch_id,omitempty"`
	Expiry
	Requester
}

// Move implements Message.
func (Received) Move() models.Move { return models.MoveReceive }

// Rider implements Message.
func (Received) Rider() *uuid.UUID { return nil }

// Fingerprint implements Message.
func (m Received) Fingerprint() string {
	if m.BranchID == nil {
		return ""
	}
	return m.BranchID.String()
}

func (Received) outdated(int, *uuid.UUID) bool { return false }

func (Received) actor() models.Actor { return models.ByOperator }

func (Received) problem() string { return "" }

// WithDeadline implements Message.
func (m Received) WithDeadline(at time.Time) Message {
	m.Deadline = &at
	return m
}

// WithRequester implements Message.
func (m Received) WithRequester(by Requester) Message {
	m.Requester = by
	return m
}

func (m Received) setContent(move *ApplyMoveInput) { move.Received = &m }

// Assigned is the assignment to a rider.
type Assigned struct {
	RiderID uuid.UUID `json:"rider_id"`
	// ExpectedSeq is the Seq at which the order must still be, unless it has the rider already; nil
	// accepts any. So an assignment does not overwrite another that its sender has not seen.
	ExpectedSeq *int `json:"expected_seq,omitempty"`
	Expiry
	Requester
}

// Move implements Message.
func (Assigned) Move() models.Move { return models.MoveAssign }

// Rider implements Message.
func (m Assigned) Rider() *uuid.UUID { return &m.RiderID }

// Fingerprint implements Message.
func (m Assigned) Fingerprint() string {
	if m.ExpectedSeq == nil {
		return m.RiderID.String()
	}
	return fmt.Sprintf("%s %d", m.RiderID, *m.ExpectedSeq)
}

// outdated implements Message. An order that has the rider already is as the sender wants it.
func (m Assigned) outdated(seq int, rider *uuid.UUID) bool {
	return hasMoved(m.ExpectedSeq, seq) && (rider == nil || *rider != m.RiderID)
}

func (Assigned) actor() models.Actor { return models.ByOperator }

func (Assigned) problem() string { return "" }

// WithDeadline implements Message.
func (m Assigned) WithDeadline(at time.Time) Message {
	m.Deadline = &at
	return m
}

// WithRequester implements Message.
func (m Assigned) WithRequester(by Requester) Message {
	m.Requester = by
	return m
}

func (m Assigned) setContent(move *ApplyMoveInput) { move.Assigned = &m }

// Delivered is the delivery to the recipient.
type Delivered struct {
	ActualAmountCollected *money.Cents `json:"actual_amount_collected,omitempty"`
	Photo                 string       `json:"photo,omitempty"`
	CapturedAt            *time.Time   `json:"captured_at,omitempty"`
	Lat                   *float64     `json:"lat,omitempty"`
	Lng                   *float64     `json:"lng,omitempty"`
	// ExpectedSeq is the Seq at which the order must still be; nil accepts any. So a delivery does not
	// become that of a rider whom its sender has not seen.
	ExpectedSeq *int `json:"expected_seq,omitempty"`
	Expiry
	Requester
}

// Move implements Message.
func (Delivered) Move() models.Move { return models.MoveDeliver }

// Rider implements Message.
func (Delivered) Rider() *uuid.UUID { return nil }

// Fingerprint implements Message.
func (m Delivered) Fingerprint() string {
	content := m.Photo
	if m.ActualAmountCollected != nil {
		content += fmt.Sprintf(" %d", *m.ActualAmountCollected)
	}
	if m.Lat != nil && m.Lng != nil {
		content += fmt.Sprintf(" %f,%f", *m.Lat, *m.Lng)
	}
	if m.ExpectedSeq != nil {
		content += fmt.Sprintf(" seq %d", *m.ExpectedSeq)
	}
	return content
}

func (m Delivered) outdated(seq int, _ *uuid.UUID) bool {
	return hasMoved(m.ExpectedSeq, seq)
}

func (Delivered) actor() models.Actor { return models.ByOperator }

func (m Delivered) problem() string {
	var captured, point string
	if m.CapturedAt != nil && !clock.InRange(*m.CapturedAt) {
		captured = clock.RangeMessage
	}
	if (m.Lat == nil) != (m.Lng == nil) || !within(m.Lat, 90) || !within(m.Lng, 180) {
		point = "debe ser un punto con lat entre -90 y 90 y lng entre -180 y 180"
	}
	return firstProblem("captured_at", captured, "lat", point)
}

// WithDeadline implements Message.
func (m Delivered) WithDeadline(at time.Time) Message {
	m.Deadline = &at
	return m
}

// WithRequester implements Message.
func (m Delivered) WithRequester(by Requester) Message {
	m.Requester = by
	return m
}

func (m Delivered) setContent(move *ApplyMoveInput) { move.Delivered = &m }

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
