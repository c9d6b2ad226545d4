// Package numeral reads numbers as people write them: with a decimal comma or point, thousands
// separators, and the sign of a currency.
package numeral

import (
	"regexp"
	"strings"
)

// UnclearMessage is the message for an amount in which a comma or a point may separate thousands or
// decimals.
const UnclearMessage = "no queda claro si la coma o el punto separa miles o decimales: escriba, por ejemplo, 1234.00 o 1.23"

var (
	// Numbers with a decimal point and thousands separators, the other way round, with a comma
	// only, and ambiguous ones.
	pointDecimal = regexp.MustCompile(`^-?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})$`)
	commaDecimal = regexp.MustCompile(`^-?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})$`)
	plainComma   = regexp.MustCompile(`^-?\d+,\d+$`)
	threeAfter   = regexp.MustCompile(`^-?[1-9]\d{0,2}[.,]\d{3}$`)
	spaced       = regexp.MustCompile(`^-?\d{1,3}( \d{3})+([.,]\d+)?$`)
	// commaPair is two numbers with decimal commas, and what is between them.
	commaPair   = regexp.MustCompile(`^([+-]?\d{1,3}),(\d+)(\s*;\s*|\s*,\s+|\s+|,)([+-]?\d{1,3}),(\d+)$`)
	currency    = regexp.MustCompile(`(?i)^(s/\.?|pen|soles)\s*|\s*(soles|pen)$`)
	otherSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")
)

// Decimal converts a decimal comma to a point. A text that is not a number is returned unchanged.
func Decimal(text string) string {
	if trimmed := strings.TrimSpace(text); plainComma.MatchString(trimmed) {
		return strings.Replace(trimmed, ",", ".", 1)
	}
	return text
}

// Amount is Decimal for money, which may have a currency and thousands separators. clear is false
// for 1,234 and 1.234, which mean a thousand in some countries and little more than one in others.
func Amount(text string) (amount string, clear bool) {
	number := currency.ReplaceAllString(strings.TrimSpace(otherSpaces.Replace(text)), "")
	if spaced.MatchString(number) {
		number = strings.ReplaceAll(number, " ", "")
	}
	switch {
	case threeAfter.MatchString(number):
		return number, false
	case pointDecimal.MatchString(number):
		return strings.ReplaceAll(number, ",", ""), true
	case commaDecimal.MatchString(number):
		return Decimal(strings.ReplaceAll(number, ".", "")), true
	}
	return Decimal(number), true
}

// Pair is Decimal for two coordinates, such as "-12,046; -77,042". A comma alone separates them
// only before a sign: "1,2,3,4" is returned unchanged, like every text that is not such a pair.
func Pair(text string) string {
	parts := commaPair.FindStringSubmatch(strings.TrimSpace(strings.ReplaceAll(otherSpaces.Replace(text), "−", "-")))
	if parts == nil || parts[3] == "," && !strings.ContainsAny(parts[4][:1], "+-") {
		return text
	}
	return parts[1] + "." + parts[2] + ", " + parts[4] + "." + parts[5]
}
