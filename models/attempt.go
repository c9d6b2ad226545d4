package models

import (
	"database/sql/driver"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsoncolumn"
	"despacho/internal/money"
)

// FailureReason is why an attempt at a delivery failed.
type FailureReason string

// The reasons of a failed attempt.
const (
	FailedAbsent       FailureReason = "absent"
	FailedNoAnswer     FailureReason = "no_answer"
	FailedWrongAddress FailureReason = "wrong_address"
	FailedRefused      FailureReason = "refused"
	FailedNoMoney      FailureReason = "no_money"
	FailedRescheduled  FailureReason = "rescheduled"
	FailedOutOfTime    FailureReason = "out_of_time"
	FailedUnsafe       FailureReason = "unsafe"
	FailedOther        FailureReason = "other"
)

// FailureReasons lists every reason, the frequent ones first.
var FailureReasons = []FailureReason{
	FailedAbsent, FailedNoAnswer, FailedWrongAddress, FailedRefused, FailedNoMoney, FailedRescheduled, FailedOutOfTime, FailedUnsafe,
	FailedOther,
}

// Label is the display name of the reason.
func (r FailureReason) Label() string {
	label, known := map[FailureReason]string{
		FailedAbsent: "No había nadie", FailedNoAnswer: "No contesta", FailedWrongAddress: "Dirección equivocada",
		FailedRefused: "No quiso recibirlo", FailedNoMoney: "No tenía el dinero", FailedRescheduled: "Pidió otro día",
		FailedOutOfTime: "No alcanzó el tiempo", FailedUnsafe: "Zona insegura", FailedOther: "Otro motivo",
	}[r]
	if !known {
		return string(r)
	}
	return label
}

// Attempt is an attempt at a delivery that failed.
type Attempt struct {
	// Number is 1 for the order's first.
	Number  int           `json:"number"`
	Reason  FailureReason `json:"reason"`
	Note    string        `json:"note,omitempty"`
	RiderID *uuid.UUID    `json:"rider_id,omitempty"`
	// Photo is the name of the file, Lat and Lng where the attempt was made.
	Photo string   `json:"photo,omitempty"`
	Lat   *float64 `json:"lat,omitempty"`
	Lng   *float64 `json:"lng,omitempty"`
	// OccurredAt is when it was made, RecordedAt when the service heard of it.
	OccurredAt time.Time `json:"occurred_at"`
	RecordedAt time.Time `json:"recorded_at"`
	// Fee is what the attempt costs the store.
	Fee money.Cents `json:"fee,omitempty"`
}

// Attempts are the failed attempts of an order, the first one first, in a column as JSON.
type Attempts []Attempt

// Scan implements sql.Scanner.
func (a *Attempts) Scan(stored any) error { return jsoncolumn.Scan(stored, a) }

// Value implements driver.Valuer.
func (a Attempts) Value() (driver.Value, error) { return jsoncolumn.Value(a, len(a) == 0) }

// Latest is the last attempt; nil if there is none.
func (a Attempts) Latest() *Attempt {
	if len(a) == 0 {
		return nil
	}
	return &a[len(a)-1]
}

// Photos are the names of the attempts' photos.
func (a Attempts) Photos() (names []string) {
	for _, attempt := range a {
		if attempt.Photo != "" {
			names = append(names, attempt.Photo)
		}
	}
	return names
}

// Anonymous are the attempts without what tells something about the recipient.
func (a Attempts) Anonymous() Attempts {
	var kept Attempts
	for _, attempt := range a {
		attempt.Note, attempt.Photo, attempt.Lat, attempt.Lng = "", "", nil, nil
		kept = append(kept, attempt)
	}
	return kept
}
