package money

import "strings"

const (
	maxIntegerDigits = 6
	maxDecimals      = 2

	// exponentCeiling is more than the digits of any text could bring back into range, and far from
	// overflowing: larger exponents need not be distinguished.
	exponentCeiling = int64(1) << 40
)

// Parse reads the text of a JSON number exactly. Only the value counts, not its notation: 1.100 is
// 1.1, 11e-1 is 1.1, and -0 is 0. Its cost grows with the length of the text, not with the
// exponent.
func Parse(decimal string) (Cents, error) {
	number, ok := scan(decimal)
	if !ok {
		return 0, ErrNotNumber
	}
	switch {
	case number.digits == "":
		return 0, nil
	case number.negative:
		return 0, ErrNegative
	case number.point > maxIntegerDigits:
		return 0, ErrTooLarge
	case int64(len(number.digits))-number.point > maxDecimals:
		return 0, ErrTooManyDecimals
	}
	cents := Cents(0)
	for i := range number.point + maxDecimals {
		cents *= 10
		if i < int64(len(number.digits)) {
			cents += Cents(number.digits[i] - '0')
		}
	}
	return cents, nil
}

// number is 0.digits × 10^point; digits neither begin nor end with a zero, so
// there are none when the value is zero.
type number struct {
	negative bool
	digits   string
	point    int64
}

// scan takes text apart by the grammar of RFC 8259, section 6.
func scan(text string) (number, bool) {
	text, negative := strings.CutPrefix(text, "-")
	integer, text := leadingDigits(text)
	if integer == "" || len(integer) > 1 && integer[0] == '0' {
		return number{}, false
	}
	fraction := ""
	if rest, found := strings.CutPrefix(text, "."); found {
		if fraction, text = leadingDigits(rest); fraction == "" {
			return number{}, false
		}
	}
	exponent, ok := scanExponent(text)
	if !ok {
		return number{}, false
	}
	digits := integer + fraction
	significant := strings.TrimLeft(digits, "0")
	leadingZeros := len(digits) - len(significant)
	return number{
		negative: negative,
		digits:   strings.TrimRight(significant, "0"),
		point:    int64(len(integer)-leadingZeros) + exponent,
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
