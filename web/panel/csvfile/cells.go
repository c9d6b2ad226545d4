package csvfile

import (
	"regexp"
	"strings"
)

var (
	scientific = regexp.MustCompile(`^[+-]?\d([.,]\d+)?[eE]\+?\d+$`)
	// Numbers with a decimal point and marks between thousands, the other way round, with a comma
	// alone, and with one that could be either.
	pointDecimal = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+\.\d+$`)
	commaDecimal = regexp.MustCompile(`^-?\d{1,3}(\.\d{3})+,\d+$`)
	plainComma   = regexp.MustCompile(`^-?\d+,\d+$`)
	threeAfter   = regexp.MustCompile(`^-?\d{1,3},\d{3}$`)
	plainNumber  = regexp.MustCompile(`^[+-]?\d[\d ]*([.,]\d+)?$`)
)

// IsScientific reports whether a program has made powers of ten of a number, as in 9.87654E+08:
// digits of it are lost.
func IsScientific(cell string) bool { return scientific.MatchString(cell) }

// Decimal writes a number with a decimal point, be it typed with a comma. What is no number comes
// back as it is.
func Decimal(cell string) string {
	if plainComma.MatchString(cell) {
		return strings.Replace(cell, ",", ".", 1)
	}
	return cell
}

// Amount is Decimal for money, which people also write with a currency and with marks between
// thousands. It is not clear about 1,234, which means a thousand to some and little more than one
// to others.
func Amount(cell string) (amount string, clear bool) {
	for _, currency := range []string{"S/.", "S/", "PEN", "s/.", "s/"} {
		if rest, found := strings.CutPrefix(cell, currency); found {
			cell = strings.TrimSpace(rest)
			break
		}
	}
	switch {
	case threeAfter.MatchString(cell):
		return cell, false
	case pointDecimal.MatchString(cell):
		return strings.ReplaceAll(cell, ",", ""), true
	case commaDecimal.MatchString(cell):
		return Decimal(strings.ReplaceAll(cell, ".", "")), true
	}
	return Decimal(cell), true
}

// Protect keeps a program from taking a text for a formula: what begins like one gets an
// apostrophe, which programs take for "this is text". Numbers, and telephone numbers with their
// plus sign, are left alone.
func Protect(cell string) string {
	if beginsFormula(cell) && !plainNumber.MatchString(cell) {
		return "'" + cell
	}
	return cell
}

func unprotect(cell string) string {
	if rest, marked := strings.CutPrefix(cell, "'"); marked && beginsFormula(rest) {
		return rest
	}
	return cell
}

func beginsFormula(cell string) bool {
	return cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0]))
}
