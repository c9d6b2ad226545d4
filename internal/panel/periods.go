package panel

import (
	"time"

	"despacho/internal/panel/forms"
)

// periods are the periods that lists are filtered by, named as in the URL.
var periods = []forms.Option{
	{Value: "hoy", Label: "Hoy"}, {Value: "ayer", Label: "Ayer"}, {Value: "7-dias", Label: "7 días"}, {Value: "mes", Label: "Este mes"},
}

// daysOf are the days of a period up to today. The days of a period that is not known are open.
func daysOf(period string, now time.Time) days {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	from := map[string]time.Time{
		"hoy": today, "ayer": today.AddDate(0, 0, -1), "7-dias": today.AddDate(0, 0, -6), "mes": today.AddDate(0, 0, 1-today.Day()),
	}
	first, known := from[period]
	switch {
	case !known:
		return days{}
	case period == "ayer":
		return days{From: &first, To: &first}
	}
	return days{From: &first, To: &today}
}
