package panel

import "time"

// day is a date on the operator's calendar.
func day(v *Visit, at time.Time) string { return at.In(v.Operator().Location()).Format("02/01/2006") }
