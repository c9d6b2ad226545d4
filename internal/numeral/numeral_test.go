package numeral_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/numeral"
)

func TestAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"89.90": "89.90", "89,90": "89.90", "89,9": "89.9", "0": "0", "1200": "1200", "1,234.50": "1234.50", "1.234,50": "1234.50",
		"1,234,567.5": "1234567.5", "1,234,567": "1234567", "1.234.567": "1234567", "S/ 89.90": "89.90", "S/.89,90": "89.90", "s/1,250.00": "1250.00", "PEN 5": "5", "-3,5": "-3.5",
		"S/\u00a01,250.00": "1250.00", "1 250,00": "1250.00", "10\u202f000.50": "10000.50", "40 soles": "40", " 40,50 ": "40.50",
		"0.500": "0.500", "0,500": "0.500", "1234.500": "1234.500", "mucho": "mucho", "1,2,3": "1,2,3", "": "", "1 2": "1 2",
	} {
		got, clear := numeral.Amount(text)
		require.True(t, clear, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"1,234", "89,900", "S/ 1,250", "1.500", "S/1.500", "-2.000"} {
		_, clear := numeral.Amount(text)
		require.False(t, clear, text)
	}
	require.Equal(t, "-12.121", numeral.Decimal("-12,121"), "in a coordinate a comma parts decimals")
}

func TestPair(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-12,046; -77,042": "-12.046, -77.042", "-12,046 -77,042": "-12.046, -77.042", "-12,046, -77,042": "-12.046, -77.042",
		"-12,046,-77,042": "-12.046, -77.042", " −12,046;−77,042 ": "-12.046, -77.042", "-12,046\u00a0-77,042": "-12.046, -77.042",
		"-12.046, -77.042": "-12.046, -77.042", "1,2,3,4": "1,2,3,4", "-12,046": "-12,046", "Av. Larco 345": "Av. Larco 345", "": "",
	} {
		require.Equal(t, want, numeral.Pair(text), text)
	}
}
