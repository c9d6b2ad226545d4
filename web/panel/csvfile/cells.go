package csvfile

import (
	"regexp"
	"strings"
)

var (
	scientific  = regexp.MustCompile(`^[+-]?\d([.,]\d+)?[eE]\+?\d+$`)
	plainNumber = regexp.MustCompile(`^[+-]?\d[\d ]*([.,]\d+)?$`)
)

// IsScientific reports whether a number is in scientific notation, as in 9.87654E+08: the
// spreadsheet program has lost digits of it.
func IsScientific(cell string) bool { return scientific.MatchString(cell) }

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
