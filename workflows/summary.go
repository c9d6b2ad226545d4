package workflows

import "strings"

// Summary returns a text that Temporal accepts as a summary for its UI, shortened if necessary.
// Temporal's limit is 400 bytes of JSON, and what it does not accept would fail a start or every
// workflow task of an order. JSON takes six bytes at most for a character.
func Summary(text string) string {
	text = strings.ToValidUTF8(text, "")
	size := len(`""`)
	for i, r := range text {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) {
			size += len(`\u0000`)
		} else {
			size++
		}
		if size > 400 {
			return text[:i]
		}
	}
	return text
}
