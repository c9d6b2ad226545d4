package money

import "despacho/internal/decimal"

const (
	maxIntegerDigits = 6
	maxDecimals      = 2
)

// Parse reads the text of a JSON number exactly. Only the value counts, not its notation: 1.100 is
// 1.1, 11e-1 is 1.1, and -0 is 0. Its cost grows with the length of the text, not with the
// exponent.
func Parse(text string) (Cents, error) {
	number, ok := decimal.Scan(text)
	if !ok {
		return 0, ErrNotNumber
	}
	switch {
	case number.Digits == "":
		return 0, nil
	case number.Negative:
		return 0, ErrNegative
	case number.Point > maxIntegerDigits:
		return 0, ErrTooLarge
	case int64(len(number.Digits))-number.Point > maxDecimals:
		return 0, ErrTooManyDecimals
	}
	cents := Cents(0)
	for i := range number.Point + maxDecimals {
		cents *= 10
		if i < int64(len(number.Digits)) {
			cents += Cents(number.Digits[i] - '0')
		}
	}
	return cents, nil
}
