package decimal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Which texts are numbers is tested with the callers, money.Parse and the hash of a JSON body.
func TestScan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Number{
		"0":         {Point: 0},
		"-0.00":     {Negative: true, Point: -2},
		"1250e-2":   {Digits: "125", Point: 2, Exponent: -2},
		"-0.0120":   {Negative: true, Digits: "12", Point: -1},
		"100E+3":    {Digits: "1", Point: 6, Exponent: 3},
		"1e9999999": {Digits: "1", Point: 10_000_000, Exponent: 9_999_999},
	} {
		got, ok := Scan(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	huge, ok := Scan("1e99999999999999999999")
	require.True(t, ok)
	require.Equal(t, exponentCeiling, huge.Exponent)
	_, ok = Scan("1.")
	require.False(t, ok)
}
