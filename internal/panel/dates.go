package panel

import "time"

// today is the date in the operator's time zone, YYYY-MM-DD.
func (p *Pages) today(v *Request) string {
	return p.Clock.Now().In(v.Operator().TimeZone()).Format(time.DateOnly)
}

// day is a date in the operator's time zone.
func day(v *Request, at time.Time) string { return at.In(v.Operator().TimeZone()).Format("02/01/2006") }

// Date is the day and month of a time in the operator's time zone, Year its year.
func (f *frame) Date(at time.Time) string { return at.In(f.zone).Format("02/01") }
func (f *frame) Year(at time.Time) string { return at.In(f.zone).Format("2006") }
