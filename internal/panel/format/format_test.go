package format_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/internal/panel/format"
)

// plain shows the spaces that keep things together as simple ones.
var plain = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, written := range map[int64]string{
		0: "0", 999: "999", 9999: "9 999", -9999: "-9 999", 10000: "10 000", 123456: "123 456", 1234567: "1 234 567", -100000: "-100 000", -1000000: "-1 000 000",
	} {
		require.Equal(t, written, plain.Replace(format.Number(n)))
	}
}

func TestAmount(t *testing.T) {
	t.Parallel()
	for cents, written := range map[money.Cents]string{
		0: "S/ 0.00", 5: "S/ 0.05", 99999: "S/ 999.99", 100000: "S/ 1,000.00", 125000: "S/ 1,250.00", 99999999: "S/ 999,999.99", 123456789: "S/ 1,234,567.89", -100000: "S/ -1,000.00",
	} {
		require.Equal(t, written, plain.Replace(format.Amount(cents, "PEN")))
	}
}

func TestPercent_roundsToZeroOrHundredOnlyIfExact(t *testing.T) {
	t.Parallel()
	for part, written := range map[float64]string{0: "0 %", 0.001: "< 1 %", 0.014: "1 %", 0.5: "50 %", 0.985: "99 %", 0.9999: "> 99 %", 1: "100 %"} {
		require.Equal(t, written, plain.Replace(format.Percent(part)))
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for minutes, written := range map[int]string{
		0: "0 min", 59: "59 min", 60: "1 h", 61: "1 h 1 min", 200: "3 h 20 min", 1440: "24 h", 2879: "47 h 59 min", 2880: "2 d", 3120: "2 d 4 h", 14399: "9 d 23 h",
	} {
		require.Equal(t, written, plain.Replace(format.Duration(time.Duration(minutes)*time.Minute)))
	}
}
