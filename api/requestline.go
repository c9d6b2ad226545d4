package api

import (
	"net/http"
	"net/url"
	"strings"
)

// readRequestLine returns the request with the method and the query that the routes know. A HEAD is
// handled as a GET is: net/http leaves the body of its response out, by the method of the request
// that it has read itself.
func readRequestLine(r *http.Request) *http.Request {
	query := decodableQuery(r.URL.RawQuery)
	if r.Method != http.MethodHead && query == r.URL.RawQuery {
		return r
	}
	read := r.WithContext(r.Context())
	if r.Method == http.MethodHead {
		read.Method = http.MethodGet
	}
	address := *r.URL
	address.RawQuery = query
	read.URL = &address
	return read
}

// decodableQuery encodes what net/url cannot decode: a semicolon, and a percent sign that encodes
// no character. It would drop the whole parameter without an error, and a list without its filter
// has other orders than the caller asked for. Browsers take both characters literally.
func decodableQuery(raw string) string {
	if !strings.ContainsAny(raw, ";%") {
		return raw
	}
	var query strings.Builder
	for i := range len(raw) {
		switch {
		case raw[i] == ';':
			query.WriteString("%3B")
		case raw[i] == '%' && !beginsEscape(raw[i:]):
			query.WriteString("%25")
		default:
			query.WriteByte(raw[i])
		}
	}
	return query.String()
}

// beginsEscape reports whether the text begins with a percent-encoded character.
func beginsEscape(text string) bool {
	_, err := url.QueryUnescape(text[:min(3, len(text))])
	return err == nil
}
