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

// readResponse reads a bounded part of the response body and returns its beginning.
func readResponse(response *http.Response) (kept string, err error) {
	if response.StatusCode == http.StatusSwitchingProtocols {
		// The body is the upgraded connection: there is no response to read.
		return "", nil
	}
	read, err := io.ReadAll(io.LimitReader(response.Body, maxResponseRead))
	return excerpt(read), err
}

// excerpt is the beginning of a body as valid UTF-8 without NUL, which every database column
// accepts.
func excerpt(answer []byte) string {
	const replacement = string(utf8.RuneError)
	// Read past the limit, so that a character at the limit is not mistaken for an invalid one.
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
