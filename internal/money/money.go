// Package money represents amounts as whole cents and parses them without floating point.
package money

import (
	"errors"
	"strconv"
)

// Cents is an amount in hundredths of its currency's unit. In JSON it is a
// number of units with at most two decimals: 1250 is 12.5.
type Cents int64

// Max is the largest amount that is accepted: 999999.99.
const Max Cents = 999_999_99

// The errors of Parse.
var (
	ErrNotNumber       = errors.New("money: not a JSON number")
	ErrNegative        = errors.New("money: negative amount")
	ErrTooLarge        = errors.New("money: amount over 999999.99")
	ErrTooManyDecimals = errors.New("money: more than two decimals")
)

// String returns the amount with exactly two decimals, for people: 12.50.
func (c Cents) String() string {
	return string(c.appendDecimal(nil, 2))
}

// MarshalJSON writes the shortest number that is exactly the amount.
func (c Cents) MarshalJSON() ([]byte, error) {
	return c.appendDecimal(nil, 0), nil
}

// UnmarshalJSON reads a number under the rules of Parse; null changes nothing.
func (c *Cents) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	amount, err := Parse(string(text))
	if err != nil {
		return err
	}
	*c = amount
	return nil
}

// appendDecimal appends the amount in units with at least minDecimals decimals
// and none that it can do without beyond those.
func (c Cents) appendDecimal(text []byte, minDecimals int) []byte {
	magnitude := uint64(c)
	if c < 0 {
		text = append(text, '-')
		magnitude = -magnitude
	}
	text = strconv.AppendUint(text, magnitude/100, 10)
	tenths, hundredths := byte(magnitude/10%10), byte(magnitude%10)
	switch {
	case minDecimals == 2 || hundredths != 0:
		return append(text, '.', '0'+tenths, '0'+hundredths)
	case tenths != 0:
		return append(text, '.', '0'+tenths)
	}
	return text
}
