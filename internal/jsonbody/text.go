package jsonbody

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The errors of TrimText.
var (
	ErrControlCharacters = errors.New("has control characters")
	ErrNotUTF8           = errors.New("is not UTF-8 text")
	ErrTooLong           = errors.New("has too many characters")
)

// TrimText checks and trims a line of text as Text does, for text that does not come from a body.
func TrimText(text string, maxCharacters int) (string, error) {
	return trimText(text, maxCharacters, false)
}

func trimText(text string, maxCharacters int, breaks bool) (string, error) {
	trimmed := trim(text)
	switch {
	case !utf8.ValidString(text):
		return "", ErrNotUTF8
	case hasControl(trimmed, breaks):
		return "", ErrControlCharacters
	case utf8.RuneCountInString(trimmed) > maxCharacters:
		return "", ErrTooLong
	}
	return trimmed, nil
}

// trim removes white space and characters that nothing shows from both ends: a name of such
// characters alone is no name. Combining marks alone are no name either; after a base character
// they are kept.
func trim(text string) string {
	trimmed := strings.TrimFunc(text, isInvisible)
	if !strings.ContainsFunc(trimmed, func(r rune) bool { return !isInvisible(r) && !unicode.In(r, unicode.Mn, unicode.Me) }) {
		return ""
	}
	return trimmed
}

func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) || r == brailleBlank
}

// brailleBlank is a symbol by its category and shows nothing.
const brailleBlank = '\u2800'

// hasControl reports control characters, and those that change the direction of the text around
// them, with which a name can be made to look like another.
func hasControl(text string, breaks bool) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		if breaks && (r == '\n' || r == '\r' || r == '\t') {
			return false
		}
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}

// CheckText is TrimText with what Text would say about the text; empty if it is valid.
func CheckText(text string, maxCharacters int) (trimmed, problem string) {
	trimmed, err := trimText(text, maxCharacters, false)
	if err != nil {
		return "", textProblem(err, maxCharacters)
	}
	return trimmed, ""
}

// LinesProblem is what Lines would say about a text that does not come from a body; empty if it is
// valid.
func LinesProblem(text string, maxCharacters int) string {
	if _, err := trimText(text, maxCharacters, true); err != nil {
		return textProblem(err, maxCharacters)
	}
	return ""
}

func textProblem(err error, maxCharacters int) string {
	switch {
	case errors.Is(err, ErrTooLong):
		return tooLongMessage(maxCharacters)
	case errors.Is(err, ErrNotUTF8):
		return notUTF8
	}
	return controlCharacters
}
