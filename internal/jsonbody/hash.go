package jsonbody

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Hash is equal for bodies that are the same JSON value, regardless of member order, spacing, and
// the notation of numbers and texts. Numbers are compared exactly, not as float64.
func (o *Object) Hash() []byte {
	sorted := o.raw.Clone()
	if err := sorted.Format(jsontext.ReorderRawObjects(true)); err != nil {
		sorted = o.raw // it was valid JSON when it was parsed
	}
	sum := sha256.New()
	decoder := jsontext.NewDecoder(bytes.NewReader(sorted))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return sum.Sum(nil)
		}
		text := token.String()
		if token.Kind() == '0' {
			text = canonicalNumber(text)
		}
		// The length prefix keeps adjacent parts from being confused.
		sum.Write([]byte{byte(token.Kind())})
		sum.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
}

// canonicalNumber writes a JSON number in one form: its digits without leading or trailing zeros,
// and a power of ten.
func canonicalNumber(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	mantissa, power := text, int64(0)
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		parsed, err := strconv.ParseInt(text[at+1:], 10, 32)
		if err != nil {
			return sign + text // an exponent this large is accepted nowhere in the service
		}
		mantissa, power = text[:at], parsed
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	power -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(trimmed))
	trimmed = strings.TrimLeft(trimmed, "0")
	if trimmed == "" {
		return "0"
	}
	return sign + trimmed + "e" + strconv.FormatInt(power, 10)
}
