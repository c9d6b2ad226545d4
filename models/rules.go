package models

import (
	"database/sql/driver"
	"slices"
	"time"

	"despacho/internal/jsoncolumn"
	"despacho/internal/money"
)

// Rules are how an operator wants attempts, deliveries and what comes after them. A zero value is
// the default, so that an operator who has set nothing has none stored.
type Rules struct {
	// HiddenReasons are not offered. A failed attempt for one of NoteReasons needs a note, for one of
	// PhotoReasons a photo.
	HiddenReasons []FailureReason `json:"hidden_reasons,omitempty"`
	NoteReasons   []FailureReason `json:"note_reasons,omitempty"`
	PhotoReasons  []FailureReason `json:"photo_reasons,omitempty"`

	// OfferedMethods are the ways of payment that are offered; empty is all of them. ReferenceMethods
	// need the number of the operation.
	OfferedMethods   []Method `json:"methods,omitempty"`
	ReferenceMethods []Method `json:"reference_methods,omitempty"`

	// What a delivery by a rider needs. With PINOver a delivery that collects as much needs the
	// number that the recipient sees on the page of the package.
	NeedsPhoto      bool         `json:"needs_photo,omitempty"`
	NeedsPoint      bool         `json:"needs_point,omitempty"`
	NeedsReceivedBy bool         `json:"needs_received_by,omitempty"`
	PINOver         *money.Cents `json:"pin_over,omitempty"`

	// Attempts is how many are made before a package goes back, unless somebody decides otherwise
	// within DecisionHours of a failed one. UndoMinutes is how long a move can be taken back. 0 is the
	// default of each; for UndoMinutes a negative number is never.
	Attempts      int `json:"max_attempts,omitempty"`
	DecisionHours int `json:"decision_hours,omitempty"`
	UndoMinutes   int `json:"undo_minutes,omitempty"`
	// Weekdays are the days of deliveries, 1 is Monday; empty is Monday to Saturday.
	Weekdays []int `json:"delivery_days,omitempty"`

	// Ceiling is what a rider may carry before whoever assigns is warned; nil is any amount. OpenCount
	// shows the cashier what a rider owes before it is counted.
	Ceiling   *money.Cents `json:"rider_ceiling,omitempty"`
	OpenCount bool         `json:"open_count,omitempty"`

	// AttemptFee is what a failed attempt costs a store, ReturnFee what the way back to it costs,
	// unless the store has its own; nil is nothing.
	AttemptFee *money.Cents `json:"attempt_fee,omitempty"`
	ReturnFee  *money.Cents `json:"return_fee,omitempty"`

	// Greeting is what a rider's message to a recipient begins with; empty is DefaultGreeting.
	Greeting string `json:"whatsapp_template,omitempty"`
}

// The defaults of the rules.
const (
	DefaultMaxAttempts   = 3
	DefaultDecisionHours = 24
	DefaultUndoMinutes   = 15
	DefaultGreeting      = "Hola {nombre}, soy el motorizado de {operador}. Llevo su pedido {guia}."
)

// Limits of the rules.
const (
	MaxMaxAttempts   = 10
	MaxDecisionHours = 14 * 24
	MaxUndoMinutes   = 24 * 60
	MaxGreeting      = 500
)

// Scan implements sql.Scanner.
func (r *Rules) Scan(stored any) error { return jsoncolumn.Scan(stored, r) }

// Value implements driver.Valuer.
func (r Rules) Value() (driver.Value, error) { return jsoncolumn.Value(r, false) }

// Reasons are the reasons of a failed attempt that are offered.
func (r Rules) Reasons() []FailureReason {
	return slices.DeleteFunc(slices.Clone(FailureReasons), func(reason FailureReason) bool {
		return slices.Contains(r.HiddenReasons, reason)
	})
}

// NeedsNote reports whether a failed attempt for the reason needs a note, NeedsPhotoFor whether it
// needs a photo.
func (r Rules) NeedsNote(reason FailureReason) bool { return slices.Contains(r.NoteReasons, reason) }

// NeedsPhotoFor is explained at NeedsNote.
func (r Rules) NeedsPhotoFor(reason FailureReason) bool {
	return slices.Contains(r.PhotoReasons, reason)
}

// NeedsReference reports whether a way of payment needs the number of the operation.
func (r Rules) NeedsReference(method Method) bool {
	return slices.Contains(r.ReferenceMethods, method)
}

// Methods are the ways of payment that are offered.
func (r Rules) Methods() []Method {
	if len(r.OfferedMethods) == 0 {
		return Methods
	}
	return r.OfferedMethods
}

// MaxAttempts is how many attempts are made before a package goes back.
func (r Rules) MaxAttempts() int { return orDefault(r.Attempts, DefaultMaxAttempts) }

// DecisionTime is how long somebody may decide after a failed attempt.
func (r Rules) DecisionTime() time.Duration {
	return time.Duration(orDefault(r.DecisionHours, DefaultDecisionHours)) * time.Hour
}

// UndoTime is how long a move can be taken back.
func (r Rules) UndoTime() time.Duration {
	return time.Duration(max(orDefault(r.UndoMinutes, DefaultUndoMinutes), 0)) * time.Minute
}

// DeliveryDays are the days of deliveries, 1 is Monday.
func (r Rules) DeliveryDays() []int {
	if len(r.Weekdays) == 0 {
		return []int{1, 2, 3, 4, 5, 6}
	}
	return r.Weekdays
}

// DeliversOn reports whether the operator delivers on the weekday of a day.
func (r Rules) DeliversOn(day time.Time) bool {
	weekday := int(day.Weekday())
	if weekday == 0 {
		weekday = 7
	}
	return slices.Contains(r.DeliveryDays(), weekday)
}

// NextDays are the next days of deliveries after a day, without its time.
func (r Rules) NextDays(day time.Time, count int) []time.Time {
	var days []time.Time
	for next := day.AddDate(0, 0, 1); len(days) < count; next = next.AddDate(0, 0, 1) {
		if r.DeliversOn(next) {
			days = append(days, next)
		}
	}
	return days
}

// WhatsAppTemplate is what a rider's message to a recipient begins with.
func (r Rules) WhatsAppTemplate() string {
	if r.Greeting == "" {
		return DefaultGreeting
	}
	return r.Greeting
}

// NextStep is the decision about an order with so many failed attempts if nobody takes one.
func (r Rules) NextStep(attempts int) Move {
	if attempts < r.MaxAttempts() {
		return MoveRetry
	}
	return MoveReturn
}

func orDefault(value, byDefault int) int {
	if value == 0 {
		return byDefault
	}
	return value
}
