package sender

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// infiniteReader returns letters without end and counts them.
type infiniteReader struct {
	given int
}

func (e *infiniteReader) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'a'
	}
	e.given += len(into)
	return len(into), nil
}

func TestReadResponseStopsAtTheCap(t *testing.T) {
	t.Parallel()
	source := &infiniteReader{}
	kept, err := readResponse(&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(source)})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("a", 1024), kept)
	require.LessOrEqual(t, source.given, 64<<10)
}

func TestExcerptIsShortValidText(t *testing.T) {
	t.Parallel()
	filler := func(length int) string { return strings.Repeat("a", length) }
	for name, test := range map[string]struct{ answer, want string }{
		"empty":                          {"", ""},
		"short":                          {"recibido", "recibido"},
		"exactly the limit":              {filler(1024), filler(1024)},
		"one over":                       {filler(1025), filler(1024)},
		"character inside the limit":     {filler(1022) + "ñ" + "b", filler(1022) + "ñ"},
		"character across the limit":     {filler(1023) + "ñ", filler(1023)},
		"wide character across":          {filler(1021) + "🛵", filler(1021)},
		"NUL":                            {"a\x00b", "a\uFFFDb"},
		"invalid bytes":                  {"a\xff\xfeb", "a\uFFFDb"},
		"replacement that does not fit":  {filler(1022) + "\xff", filler(1022)},
		"nothing but continuation bytes": {strings.Repeat("\x80", 4096), "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := excerpt([]byte(test.answer))
			require.Equal(t, test.want, text)
			require.True(t, utf8.ValidString(text))
			require.LessOrEqual(t, len(text), 1024)
		})
	}
}
