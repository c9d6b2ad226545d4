package web

import (
	"slices"
	"time"
	"unicode/utf8"

	"despacho/models"
)

// Tracking is all that a customer with a guide code is shown: never the rider, the address, a name
// or a phone.
type Tracking struct {
	GuideCode string
	Product   string
	Operator  string
	// LogoURL is empty for an operator without a logo.
	LogoURL string
	Status  models.Status
	// Revivable says that a cancelled package only came too late: it goes on once it arrives.
	Revivable bool
	// Events are the package's moves, oldest first.
	Events []Event
	// Zone is the operator's, in which times are shown.
	Zone *time.Location
}

// Event is the arrival at a status.
type Event struct {
	Status models.Status
	At     time.Time
}

// trackingView is a Tracking in words.
type trackingView struct {
	Tracking
	StatusLabel string
	Summary     string
	Advice      string
	// Initial stands in for a logo.
	Initial string
	// Steps is the way of a package that was not cancelled.
	Steps []step
	// Entries are the events, latest first: what a customer came for.
	Entries []entry
}

type step struct {
	Label         string
	Done, Current bool
}

type entry struct {
	Text     string
	When     string
	Datetime string
}

// way is every status that a package passes when all goes well.
var way = []models.Status{models.StatusRegistered, models.StatusReceived, models.StatusAssigned, models.StatusDelivered}

func describe(t Tracking) trackingView {
	initial, _ := utf8.DecodeRuneInString(t.Operator)
	words := wordsFor(t.Status, t.Revivable)
	view := trackingView{
		Tracking: t, StatusLabel: t.Status.Label(), Summary: words.summary, Advice: words.advice, Initial: string(initial),
	}
	if reached := slices.Index(way, t.Status); reached >= 0 {
		for i, status := range way {
			view.Steps = append(view.Steps, step{Label: status.Label(), Done: i <= reached, Current: i == reached})
		}
	}
	for _, event := range slices.Backward(t.Events) {
		at := event.At.In(t.Zone)
		view.Entries = append(view.Entries, entry{
			Text: wordsFor(event.Status, false).entry, When: longDate(at), Datetime: at.Format(time.RFC3339),
		})
	}
	return view
}
