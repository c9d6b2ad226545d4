package api

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// limitBody ends a body that drips in when its time is over. Once the body is there the connection
// has no deadline any more: one that passed while the request is worked on would cancel it, as if
// the client had left, and every later request on the same connection.
func limitBody(w http.ResponseWriter, r *http.Request, limit time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &limitedBody{ReadCloser: r.Body, connection: http.NewResponseController(w), until: time.Now().Add(limit)}
}

type limitedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	until      time.Time
}

// Read ignores that a deadline cannot be set: a writer that has no connection behind it, as in a
// test, has nothing to end. A body that did not come to its end keeps its deadline: nobody waits
// for the rest of it either.
func (b *limitedBody) Read(p []byte) (int, error) {
	_ = b.connection.SetReadDeadline(b.until)
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}
