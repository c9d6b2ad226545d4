// Package textnorm normalizes text for comparisons that ignore accents, case and punctuation.
package textnorm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// String returns s in lower case, without accents (ñ becomes n), with every run of white space,
// punctuation and symbols as one space, and trimmed.
func String(s string) string {
	if isNormalized(s) {
		return s
	}
	if !isASCII(s) {
		// After decomposition an accent is a rune of its own that can be dropped. Decomposition
		// skips the letter after an invalid byte, so invalid bytes are removed first.
		s = norm.NFD.String(strings.ToValidUTF8(s, " "))
	}
	var folded strings.Builder
	folded.Grow(len(s))
	pendingSpace := false
	for _, r := range s {
		switch {
		case isWordRune(r):
			if pendingSpace && folded.Len() > 0 {
				folded.WriteByte(' ')
			}
			pendingSpace = false
			folded.WriteRune(unicode.ToLower(r))
		case !isInvisible(r):
			pendingSpace = true
		}
	}
	return folded.String()
}

// Compare orders names for display: without accents, case and punctuation, whatever the collation
// of the database is. Names that differ in nothing else are equal.
func Compare(a, b string) int { return strings.Compare(String(a), String(b)) }

// Equal reports whether two names differ at most in accents, case and punctuation.
func Equal(a, b string) bool { return String(a) == String(b) }

// Slug returns s normalized, with hyphens in place of spaces.
func Slug(s string) string {
	return strings.ReplaceAll(String(s), " ", "-")
}

// isNormalized reports whether s is ASCII text that String would return unchanged, the usual case
// for text that was normalized before.
func isNormalized(s string) bool {
	previous := byte(' ')
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == ' ' && previous != ' ':
		default:
			return false
		}
		previous = c
	}
	return s == "" || previous != ' '
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// isInvisible reports the runes that are dropped without separating a word: accents, and format
// characters such as the soft hyphen and the zero-width joiner.
func isInvisible(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsMark(r) || unicode.Is(unicode.Cf, r))
}

// Forms returns the text and its composed and decomposed forms, each once. They are the same text
// to whoever reads it: systems differ in which one they write.
func Forms(text string) []string {
	forms := []string{text}
	for _, form := range []string{norm.NFC.String(text), norm.NFD.String(text)} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}
