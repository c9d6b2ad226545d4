package guidecode

import (
	"errors"
	"strings"
)

// What Scan cannot make a code of.
var (
	// ErrNotACode says that it does not even have the shape of one.
	ErrNotACode = errors.New("not a guide code")
	// ErrCheck says that a character was misread or mistyped: the check character does not fit the
	// others.
	ErrCheck = errors.New("the check character of the guide code is wrong")
)

// trackingPath comes before the code in the address that a label's QR code holds.
const trackingPath = "track"

// Scan reads what a barcode reader types into a field and returns the printed form. It takes all
// that Parse takes, and two things that only readers do: signs of any kind in place of the hyphen,
// for a keyboard layout that is not the reader's, and the whole tracking address out of a QR code.
func Scan(typed string) (code string, err error) {
	err = ErrNotACode
	for _, candidate := range candidates(strings.Map(alphanumeric, typed)) {
		if code, ok := Parse(candidate); ok {
			return code, nil
		}
		if hasShape(candidate) {
			err = ErrCheck
		}
	}
	return "", err
}

// candidates are the places where a code can stand: everything, or what follows the tracking path.
// The path's name may also be part of the host's or of the code, so every occurrence counts.
func candidates(text string) []string {
	found := []string{text}
	for rest := strings.ToLower(text); ; {
		_, after, more := strings.Cut(rest, trackingPath)
		if !more {
			return found
		}
		found = append(found, after[:min(len(after), codeLength)])
		rest = after
	}
}

func hasShape(text string) bool {
	for _, r := range text {
		if _, known := symbolOf(r); !known {
			return false
		}
	}
	return len(text) == codeLength
}

// alphanumeric drops every other character. The signs that a wrong layout types need not be ASCII.
func alphanumeric(r rune) rune {
	if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
		return r
	}
	return -1
}
