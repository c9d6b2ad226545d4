package sender

import (
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxResponseRead = 64 << 10
	maxResponseKept = 1 << 10
)

// readAnswer reads a bounded part of what the receiver said and keeps its beginning.
func readResponse(response *http.Response) (kept string, err error) {
	if response.StatusCode == http.StatusSwitchingProtocols {
		// The connection itself stands in the body's place: there is no answer to read.
		return "", nil
	}
	read, err := io.ReadAll(io.LimitReader(response.Body, maxResponseRead))
	return excerpt(read), err
}

// excerpt is the beginning of an answer as text that any database column takes: valid UTF-8, no
// NUL.
func excerpt(answer []byte) string {
	const replacement = string(utf8.RuneError)
	// A character that straddles the limit must be seen whole to be told from a broken one.
	beginning := string(answer[:min(len(answer), maxResponseKept+utf8.UTFMax)])
	text := strings.ReplaceAll(strings.ToValidUTF8(beginning, replacement), "\x00", replacement)
	if len(text) <= maxResponseKept {
		return text
	}
	end := maxResponseKept
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
