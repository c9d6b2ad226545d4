package db

import (
	"fmt"
	"strings"
	"time"
)

// offsetIn is the SQL for the UTC offset in seconds at the time in a column. Listing the few offset
// changes of the period as cases gives both databases the same result, whatever they know about
// time zones.
func offsetIn(column string, zone *time.Location, from, until time.Time) (sql string, arguments []any) {
	var cases strings.Builder
	for at := from.In(zone); ; {
		_, offset := at.Zone()
		_, change := at.ZoneBounds()
		if change.IsZero() || !change.Before(until) {
			if len(arguments) == 0 {
				return fmt.Sprint(offset), nil
			}
			return fmt.Sprintf("CASE %sELSE %d END", cases.String(), offset), arguments
		}
		fmt.Fprintf(&cases, "WHEN %s < ? THEN %d ", column, offset)
		arguments = append(arguments, change.UTC())
		at = change
	}
}

// seconds is the SQL for a column's Unix time in whole seconds.
func (d *DB) seconds(column string) string {
	if d.dialect == SQLite {
		return "unixepoch(" + column + ")"
	}
	return "CAST(FLOOR(EXTRACT(EPOCH FROM " + column + ")) AS BIGINT)"
}
