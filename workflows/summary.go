package workflows

import (
	"encoding/json"
	"unicode/utf8"
)

// maxSummary is the largest size of a summary, in bytes of JSON: Temporal's limit is 400, and what
// it does not accept would fail a start or every workflow task of an order.
const maxSummary = 400

// Summary returns a text that Temporal accepts as a summary for its UI, shortened if necessary.
func Summary(text string) string {
	text = text[:min(len(text), maxSummary)]
	for {
		if encoded, err := json.Marshal(text); err == nil && len(encoded) <= maxSummary && utf8.ValidString(text) {
			return text
		}
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
}
