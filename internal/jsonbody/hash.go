package jsonbody

import (
	"bytes"
	"crypto/sha256"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"despacho/internal/decimal"
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
// and a power of ten. Hashes are stored: another form would no longer recognise a repeated body.
func canonicalNumber(text string) string {
	number, ok := decimal.Scan(text)
	switch {
	case !ok || number.Exponent != int64(int32(number.Exponent)):
		return text // an exponent this large is accepted nowhere in the service
	case number.Digits == "":
		return "0"
	}
	canonical := number.Digits + "e" + strconv.FormatInt(number.Point-int64(len(number.Digits)), 10)
	if number.Negative {
		return "-" + canonical
	}
	return canonical
}
