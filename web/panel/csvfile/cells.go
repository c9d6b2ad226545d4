package csvfile

import (
	"regexp"
	"strings"
)

var (
	scientific = regexp.MustCompile(`^[+-]?\d([.,]\d+)?[eE]\+?\d+$`)
	// Numbers with a decimal point and thousands separators, the other way round, with a comma
	// only, and ambiguous ones.
	pointDecimal = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+\.\d+$`)
	commaDecimal = regexp.MustCompile(`^-?\d{1,3}(\.\d{3})+,\d+$`)
	plainComma   = regexp.MustCompile(`^-?\d+,\d+$`)
	threeAfter   = regexp.MustCompile(`^-?\d{1,3},\d{3}$`)
	plainNumber  = regexp.MustCompile(`^[+-]?\d[\d ]*([.,]\d+)?$`)
)

// IsScientific reports whether a number is in scientific notation, as in 9.87654E+08: the
// spreadsheet program has lost digits of it.
func IsScientific(cell string) bool { return scientific.MatchString(cell) }

// Decimal converts a decimal comma to a point. A text that is not a number is returned unchanged.
func Decimal(cell string) string {
	if plainComma.MatchString(cell) {
		return strings.Replace(cell, ",", ".", 1)
	}
	return cell
}

// Amount is Decimal for money, which may have a currency and thousands separators. clear is false
// for 1,234, which means a thousand in some countries and little more than one in others.
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

// Protect prevents CSV injection: a text that starts like a formula gets an apostrophe, which marks
// text in spreadsheet programs. Numbers, and telephone numbers with a plus sign, are unchanged.
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
