package workflows

import (
	"strings"
	"unicode/utf8"
)

// maxSummary is the largest size of a summary, in bytes of JSON: Temporal's limit is 400, and what
// it does not accept would fail a start or every workflow task of an order.
const maxSummary = 400

// Summary returns a text that Temporal accepts as a summary for its UI, shortened if necessary.
func Summary(text string) string {
	text = strings.ToValidUTF8(text, "")
	size := len(`""`)
	for i, r := range text {
		if size += jsonSize(r); size > maxSummary {
			return text[:i]
		}
	}
	return text
}

// jsonSize is how many bytes encoding/json takes for a character. The encoder itself may not be
// used in a workflow.
func jsonSize(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return len(`\"`)
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
		return len(`\u0000`)
	}
	return utf8.RuneLen(r)
}
