package panel

import (
	"fmt"
	"time"

	"despacho/internal/clock"
)

// days are the first and the last day that a list is filtered by, both included; nil is open.
type days struct{ From, To *time.Time }

// readDays reads the days of a filter. What is no day is left out, so that the page does not show a
// filter that is not applied.
func readDays(v *Request) days {
	return days{optionalDay(v.Query("desde")), optionalDay(v.Query("hasta"))}.inOrder()
}

func optionalDay(text string) *time.Time {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || !clock.InRange(at) {
		return nil
	}
	return &at
}

// inOrder puts days in the wrong order right.
func (d days) inOrder() days {
	if d.From != nil && d.To != nil && d.From.After(*d.To) {
		d.From, d.To = d.To, d.From
	}
	return d
}

// Any reports whether there is a day to filter by.
func (d days) Any() bool { return d.From != nil || d.To != nil }

// First and Last are the days as fields and addresses have them.
func (d days) First() string { return dateText(d.From) }
func (d days) Last() string  { return dateText(d.To) }

func dateText(day *time.Time) string {
	if day == nil {
		return ""
	}
	return day.Format(time.DateOnly)
}

// Min and Max are the days that the fields accept: a browser sends a date as soon as one digit of
// its year is typed.
func (days) Min() string { return fmt.Sprintf("%d-01-01", clock.MinYear) }
func (days) Max() string { return fmt.Sprintf("%d-12-31", clock.MaxYear) }
