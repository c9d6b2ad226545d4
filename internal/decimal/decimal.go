// Package decimal takes the text of a JSON number apart without floating point.
package decimal

import "strings"

// exponentCeiling is more than the digits of any text could bring back into range, and far from
// overflowing: larger exponents need not be distinguished.
const exponentCeiling = int64(1) << 40

// Number is 0.Digits × 10^Point. Digits neither begin nor end with a zero, so there are none when
// the value is zero.
type Number struct {
	Negative bool
	Digits   string
	Point    int64
	// Exponent is the one that the text has; its size is exponentCeiling at most.
	Exponent int64
}

// Scan takes text apart by the grammar of RFC 8259, section 6. Its cost grows with the length of
// the text, not with the exponent.
func Scan(text string) (Number, bool) {
	text, negative := strings.CutPrefix(text, "-")
	integer, text := leadingDigits(text)
	if integer == "" || len(integer) > 1 && integer[0] == '0' {
		return Number{}, false
	}
	fraction := ""
	if rest, found := strings.CutPrefix(text, "."); found {
		if fraction, text = leadingDigits(rest); fraction == "" {
			return Number{}, false
		}
	}
	exponent, ok := scanExponent(text)
	if !ok {
		return Number{}, false
	}
	digits := integer + fraction
	significant := strings.TrimLeft(digits, "0")
	leadingZeros := len(digits) - len(significant)
	return Number{
		Negative: negative,
		Digits:   strings.TrimRight(significant, "0"),
		Point:    int64(len(integer)-leadingZeros) + exponent,
		Exponent: exponent,
	}, true
}

// scanExponent reads all of text as an exponent; no text is an exponent of 0.
func scanExponent(text string) (exponent int64, ok bool) {
	if text == "" {
		return 0, true
	}
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text, negative := strings.CutPrefix(text[1:], "-")
	if !negative {
		text, _ = strings.CutPrefix(text, "+")
	}
	digits, rest := leadingDigits(text)
	if digits == "" || rest != "" {
		return 0, false
	}
	for i := range len(digits) {
		exponent = min(exponent*10+int64(digits[i]-'0'), exponentCeiling)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

func leadingDigits(text string) (digits, rest string) {
	end := 0
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	return text[:end], text[end:]
}
