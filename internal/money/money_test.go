package money

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Cents{
		"0":                            0,
		"-0":                           0,
		"-0.00":                        0,
		"0e999999999":                  0,
		"12":                           12_00,
		"12.5":                         12_50,
		"12.50":                        12_50,
		"0.01":                         1,
		"0.1":                          10,
		"1.10":                         1_10,
		"1.100":                        1_10,
		"1.1000000000000000000":        1_10,
		"0.29":                         29,
		"1.15":                         1_15,
		"100":                          100_00,
		"999999.99":                    Max,
		"999999.990":                   Max,
		"1e2":                          100_00,
		"1E+2":                         100_00,
		"1.25e1":                       12_50,
		"1250e-2":                      12_50,
		"11e-1":                        1_10,
		"1e-2":                         1,
		"0.00099999999e9":              Max,
		"100000000e-3":                 100_000_00,
		"1e000000000000000000000000":   1_00,
		"1" + zeros(5000) + "e-5000":   1_00,
		"0." + zeros(5000) + "1e5001":  1_00,
		"0." + zeros(5000) + "1e+5003": 100_00,
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"-0.01":                          ErrNegative,
		"-1e999999999":                   ErrNegative,
		"-1.101":                         ErrNegative,
		"1.101":                          ErrTooManyDecimals,
		"0.001":                          ErrTooManyDecimals,
		"1e-3":                           ErrTooManyDecimals,
		"1e-999999999":                   ErrTooManyDecimals,
		"999999.991":                     ErrTooManyDecimals,
		"1000000":                        ErrTooLarge,
		"999999.99e1":                    ErrTooLarge,
		"1e6":                            ErrTooLarge,
		"1e999999999":                    ErrTooLarge,
		"1e" + strings.Repeat("9", 5000): ErrTooLarge,
		"9223372036854775808":            ErrTooLarge,
		"1000000.001":                    ErrTooLarge,
		"":                               ErrNotNumber,
		"-":                              ErrNotNumber,
		"+1":                             ErrNotNumber,
		"01":                             ErrNotNumber,
		"-01":                            ErrNotNumber,
		".5":                             ErrNotNumber,
		"5.":                             ErrNotNumber,
		"1.e2":                           ErrNotNumber,
		"1e":                             ErrNotNumber,
		"1e+":                            ErrNotNumber,
		"1e-+2":                          ErrNotNumber,
		"1e2.5":                          ErrNotNumber,
		"1,5":                            ErrNotNumber,
		"0x10":                           ErrNotNumber,
		"1_000":                          ErrNotNumber,
		" 1":                             ErrNotNumber,
		"1 ":                             ErrNotNumber,
		"NaN":                            ErrNotNumber,
		"Infinity":                       ErrNotNumber,
		"null":                           ErrNotNumber,
		`"12"`:                           ErrNotNumber,
		"١٢":                             ErrNotNumber,
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, want, text)
	}
}

// Exponents too large to expand: Parse must not try to.
func TestParseDoesNotCountTheZerosOfHugeExponents(t *testing.T) {
	t.Parallel()
	parsed := make(chan error)
	go func() {
		for _, text := range []string{"1e999999999999999999", "1e-999999999999999999", "0e999999999999999999", "1e" + strings.Repeat("9", 1000)} {
			_, err := Parse(text)
			parsed <- err
		}
	}()
	for _, want := range []error{ErrTooLarge, ErrTooManyDecimals, nil, ErrTooLarge} {
		select {
		case err := <-parsed:
			require.ErrorIs(t, err, want)
		case <-time.After(poll.Deadline):
			t.Fatal("the zeros are being counted")
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, out string }{
		{"12", "12"}, {"12.5", "12.5"}, {"12.50", "12.5"}, {"12.05", "12.05"}, {"0", "0"},
		{"0.01", "0.01"}, {"10.00", "10"}, {"999999.99", "999999.99"}, {"1e2", "100"},
	} {
		var amount Cents
		require.NoError(t, json.Unmarshal([]byte(tc.in), &amount), tc.in)
		text, err := json.Marshal(amount)
		require.NoError(t, err)
		require.Equal(t, tc.out, string(text))
	}
}

func TestJSONMembers(t *testing.T) {
	t.Parallel()
	body := struct {
		Value   Cents  `json:"value"`
		Pointer *Cents `json:"pointer"`
	}{Value: 7}
	require.NoError(t, json.Unmarshal([]byte(`{"value":null,"pointer":null}`), &body))
	require.Equal(t, Cents(7), body.Value, "null changes nothing")
	require.Nil(t, body.Pointer)

	require.ErrorIs(t, json.Unmarshal([]byte(`{"value":"12"}`), &body), ErrNotNumber)
	require.ErrorIs(t, json.Unmarshal([]byte(`{"pointer":-3}`), &body), ErrNegative)

	require.NoError(t, json.Unmarshal([]byte(`{"value": 12.50 ,"pointer":0}`), &body))
	text, err := json.Marshal(body)
	require.NoError(t, err)
	require.Equal(t, `{"value":12.5,"pointer":0}`, string(text))
}

func TestString(t *testing.T) {
	t.Parallel()
	for amount, want := range map[Cents]string{
		0: "0.00", 5: "0.05", 12_50: "12.50", 100_00: "100.00", Max: "999999.99", -1_05: "-1.05",
		math.MinInt64: "-92233720368547758.08",
	} {
		require.Equal(t, want, amount.String())
	}
}

// FuzzParse holds Parse to exact rational arithmetic.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"12.50", "1e2", "0.001", "1000000", "-0", "1e-2", "99999999e-2", "0.00010e5", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := Parse(text)
		isNumber := json.Valid([]byte(text)) && strings.ContainsRune("-0123456789", rune(text[0])) &&
			text == strings.TrimSpace(text)
		require.Equal(t, isNumber, !errors.Is(err, ErrNotNumber), text)
		if err == nil {
			printed, marshalErr := amount.MarshalJSON()
			require.NoError(t, marshalErr)
			again, parseErr := Parse(string(printed))
			require.NoError(t, parseErr)
			require.Equal(t, amount, again)
		}
		if !isNumber || len(text) > 40 || hasLongExponent(text) {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok, text)
		exact.Mul(exact, big.NewRat(100, 1))
		inRange := exact.Sign() >= 0 && exact.Cmp(big.NewRat(int64(Max), 1)) <= 0
		require.Equal(t, inRange && exact.IsInt(), err == nil, text)
		if err == nil {
			require.Zero(t, exact.Cmp(big.NewRat(int64(amount), 1)), text)
		}
	})
}

// hasLongExponent spares the reference arithmetic numbers it cannot hold.
func hasLongExponent(text string) bool {
	_, exponent, found := strings.Cut(strings.ToLower(text), "e")
	return found && len(exponent) > 4
}

func zeros(n int) string { return strings.Repeat("0", n) }
