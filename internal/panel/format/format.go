// Package format formats numbers, amounts, percentages, durations and days in Spanish.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"despacho/internal/money"
)

// Non-breaking spaces between a number and its unit, and between its digits.
const (
	space     = "\u00a0"
	thinSpace = "\u202f"
)

// Number separates thousands with a space, which is understood in every country: 999, 5 543.
func Number(n int64) string { return grouped(strconv.FormatInt(n, 10), thinSpace) }

// Plural is the word for a number of things: only one of them is singular.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// grouped separates the thousands of a whole number.
func grouped(digits, separator string) string {
	var out strings.Builder
	for i, digit := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			out.WriteString(separator)
		}
		out.WriteRune(digit)
	}
	return out.String()
}

// Percent formats a fraction in whole percents. Only 1 is 100 %, and only 0 is 0 %.
func Percent(part float64) string {
	percents := math.Round(part * 100)
	switch {
	case percents == 0 && part > 0:
		return "<" + space + "1" + space + "%"
	case percents == 100 && part < 1:
		return ">" + space + "99" + space + "%"
	}
	return fmt.Sprintf("%.0f%s%%", percents, space)
}

// Duration formats a duration, to the minute up to two days: 45 min, 3 h 20 min, 2 d 4 h.
func Duration(d time.Duration) string {
	minutes := int64(d / time.Minute)
	switch {
	case minutes < 60:
		return units(minutes, "min", 0, "")
	case minutes < 48*60:
		return units(minutes/60, "h", minutes%60, "min")
	default:
		return units(minutes/1440, "d", minutes%1440/60, "h")
	}
}

func units(many int64, large string, few int64, small string) string {
	text := Number(many) + space + large
	if few > 0 {
		text += space + Number(few) + space + small
	}
	return text
}

// Amount formats money with the sign of its currency, as it is written in Peru: S/ 1,250.00.
func Amount(cents money.Cents, currency string) string {
	whole, decimals, _ := strings.Cut(cents.String(), ".")
	return CurrencySign(currency) + space + grouped(whole, ",") + "." + decimals
}

// CurrencySign is the sign of a currency, or its code.
func CurrencySign(currency string) string {
	if currency == "PEN" {
		return "S/"
	}
	return currency
}

// Day formats a date that is written as 2006-01-02; another text stays as it is.
func Day(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return day.Format("02/01/2006")
}

// weekdays are the names of the days of the week, from Sunday on.
var weekdays = [...]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"}

// Weekday is the name of a day of the week.
func Weekday(day time.Weekday) string { return weekdays[day] }

// LongDay formats a date that is written as 2006-01-02 with its day of the week: viernes 20/11. It
// is empty for another text.
func LongDay(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return ""
	}
	return Weekday(day.Weekday()) + " " + day.Format("02/01")
}
