package guidecode

import (
	"errors"
	"strings"
)

// The errors of Scan.
var (
	// ErrNotACode means that the text does not have the form of a code.
	ErrNotACode = errors.New("not a guide code")
	// ErrCheck means that a character was misread or mistyped: the check character does not match
	// the others.
	ErrCheck = errors.New("the check character of the guide code is wrong")
)

// trackingPath precedes the code in the URL of a label's QR code.
const trackingPath = "track"

// Scan reads what a barcode scanner types into a field and returns the printed form. Besides what
// Parse accepts, it accepts any sign in place of the hyphen, for a keyboard layout that is not the
// scanner's, and the whole tracking URL of a QR code.
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

// candidates are the texts that may be a code: everything, or what follows the tracking path. The
// path may also occur in the host or in the code, so every occurrence counts.
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

// alphanumeric drops every other character. The signs that a wrong layout types may be outside
// ASCII.
func alphanumeric(r rune) rune {
	if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
		return r
	}
	return -1
}
