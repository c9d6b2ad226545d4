// Package guidecode generates and parses guide codes, the codes printed on packages that customers
// type to track an order.
package guidecode

import (
	"crypto/rand"
	"strings"
	"unicode"
)

const (
	// alphabet is Crockford's base32: no I, L or O to mistake for digits, no U.
	alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

	randomLength = 10
	codeLength   = randomLength + 1 // the check character comes last
	groupLength  = 5                // characters before the printed hyphen
)

// symbols are a code's characters as indexes into the alphabet.
type symbols [codeLength]byte

// New returns an unguessable code of 50 random bits in its printed form,
// XXXXX-XXXXXX.
func New() string {
	var random [randomLength]byte
	_, _ = rand.Read(random[:]) // crypto/rand ends the process if the system has no randomness
	var code symbols
	for i, b := range random {
		code[i] = b % byte(len(alphabet)) // 256 is a multiple of 32: every character is equally likely
	}
	code[randomLength] = checkSymbol(code[:randomLength])
	return code.String()
}

// Parse reads a code as people type it and scanners send it, and returns its printed form. Case,
// hyphens and spaces are ignored, O is 0, I and L are 1. ok is false for anything that is not a
// code with the right check character.
func Parse(s string) (code string, ok bool) {
	read, ok := readSymbols(s)
	if !ok || len(read) < codeLength || !isConsistent(read) {
		return "", false
	}
	return printed(read, groupLength), true
}

// ParsePart reads the beginning or the end of a code, typed as Parse accepts it, and returns the
// printed forms that it may have: the hyphen's place depends on which of the two it is. There are
// none for what fits before the hyphen, nor for a whole code.
func ParsePart(s string) []string {
	read, ok := readSymbols(s)
	if !ok || len(read) <= groupLength || len(read) == codeLength {
		return nil
	}
	return []string{printed(read, groupLength), printed(read, len(read)-(codeLength-groupLength))}
}

// readSymbols returns the characters of a code, or of a part of one, as indexes into the alphabet.
func readSymbols(s string) (read []byte, ok bool) {
	for _, r := range s {
		if isSeparator(r) {
			continue
		}
		symbol, known := symbolOf(r)
		if !known || len(read) == codeLength {
			return nil, false
		}
		read = append(read, symbol)
	}
	return read, true
}

// printed writes characters with a hyphen after the first group of them.
func printed(read []byte, group int) string {
	text := make([]byte, 0, len(read)+1)
	for i, symbol := range read {
		if i == group && i > 0 {
			text = append(text, '-')
		}
		text = append(text, alphabet[symbol])
	}
	return string(text)
}

// String returns the printed form.
func (code symbols) String() string { return printed(code[:], groupLength) }

// isSeparator also accepts the apostrophe: a scanner set to an English keyboard types it for the
// hyphen of a Spanish one.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Dash, r) || r == '\''
}

func symbolOf(r rune) (symbol byte, known bool) {
	if 'a' <= r && r <= 'z' {
		r += 'A' - 'a'
	}
	switch r {
	case 'O':
		r = '0'
	case 'I', 'L':
		r = '1'
	}
	place := strings.IndexRune(alphabet, r)
	return byte(place), place >= 0
}
