package panel

import "time"

// day is a date on the operator's calendar.
func day(v *Visit, at time.Time) string { return at.In(v.Operator().Location()).Format("02/01/2006") }

// Date is the day and month of a time on the operator's calendar, Year its year.
func (f *frame) Date(at time.Time) string { return at.In(f.zone).Format("02/01") }
func (f *frame) Year(at time.Time) string { return at.In(f.zone).Format("2006") }

// Hour is a time of the day on the operator's clock.
func (f *frame) Hour(at time.Time) string { return at.In(f.zone).Format("15:04") }
