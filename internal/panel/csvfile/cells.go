package csvfile

import (
	"regexp"
	"strings"
	"unicode/utf8"
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
	return atStarts(cell, func(text string) (mark, rest string) {
		if beginsFormula(text) && !plainNumber.MatchString(text) {
			return "'", text
		}
		return "", text
	})
}

func unprotect(cell string) string {
	return atStarts(cell, func(text string) (mark, rest string) {
		if rest, marked := strings.CutPrefix(text, "'"); marked && beginsFormula(rest) {
			return "", rest
		}
		return "", text
	})
}

// formulaStarts are the characters that a formula begins with. Spreadsheet programs that are set to
// Chinese or Japanese take the full-width forms for the others.
const formulaStarts = "=+-@\t\r＝＋－＠"

func beginsFormula(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return text != "" && strings.ContainsRune(formulaStarts, first)
}

// splitting are the characters at which some program divides a file into cells.
const splitting = delimiters + "\r\n"

// atStarts changes a cell from its start and from wherever inside it another cell may start. A
// program that is set to another delimiter than the file's has no regard for the quotes around the
// text, since they are not where its own cells begin; those after a delimiter it takes for its own.
func atStarts(cell string, change func(text string) (mark, rest string)) string {
	var out strings.Builder
	for {
		mark, text := change(cell)
		out.WriteString(mark)
		at := strings.IndexAny(text, splitting)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		cell = strings.TrimLeft(text[at+1:], ` "`)
		out.WriteString(text[:len(text)-len(cell)])
	}
}
