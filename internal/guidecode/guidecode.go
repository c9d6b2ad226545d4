// Package guide makes and reads guide codes, the codes printed on packages that
// end customers type to follow an order.
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

// symbols are a code's characters by their place in the alphabet.
type symbols [codeLength]byte

// New returns an unguessable code of 50 random bits in its printed form,
// XXXXX-XXXXXX.
func New() string {
	var random [randomLength]byte
	_, _ = rand.Read(random[:]) // never fails: the process ends if the system has no randomness
	var code symbols
	for i, b := range random {
		code[i] = b % byte(len(alphabet)) // 256 is a multiple of 32: every character is as likely
	}
	code[randomLength] = checkSymbol(code[:randomLength])
	return code.String()
}

// Parse reads a code as people type and scanners send it, and returns its
// printed form. Case, hyphens and spaces do not matter, O is 0, I and L are 1.
// It is false for anything that is not a code with the right check character.
func Parse(s string) (code string, ok bool) {
	var read symbols
	length := 0
	for _, r := range s {
		if isSeparator(r) {
			continue
		}
		symbol, known := symbolOf(r)
		if !known || length == codeLength {
			return "", false
		}
		read[length] = symbol
		length++
	}
	if length < codeLength || !isConsistent(read[:]) {
		return "", false
	}
	return read.String(), true
}

// String returns the printed form.
func (code symbols) String() string {
	printed := make([]byte, 0, codeLength+1)
	for i, symbol := range code {
		if i == groupLength {
			printed = append(printed, '-')
		}
		printed = append(printed, alphabet[symbol])
	}
	return string(printed)
}

// isSeparator also takes the apostrophe: it is what a barcode reader set to an
// English keyboard types for the hyphen on a Spanish one.
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
