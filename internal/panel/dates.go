package panel

import "time"

// day is a date in the operator's time zone.
func day(v *Request, at time.Time) string { return at.In(v.Operator().TimeZone()).Format("02/01/2006") }

// moment is a time as text and for the datetime attribute.
type moment struct{ Text, Machine string }

func momentOf(v *Request, at time.Time) moment {
	local := at.In(v.Operator().TimeZone())
	return moment{local.Format("02/01/2006 15:04:05"), local.Format(time.RFC3339)}
}

// Date is the day and month of a time in the operator's time zone, Year its year.
func (f *frame) Date(at time.Time) string { return at.In(f.zone).Format("02/01") }
func (f *frame) Year(at time.Time) string { return at.In(f.zone).Format("2006") }
