package api

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// withReadDeadline limits how long reading the body may take. The deadline is removed once the body
// is read: if it passed while the request is handled, net/http would cancel this request as if the
// client had left, and every later request on the same connection.
func withReadDeadline(w http.ResponseWriter, r *http.Request, limit time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &deadlineBody{ReadCloser: r.Body, connection: http.NewResponseController(w), until: time.Now().Add(limit)}
}

type deadlineBody struct {
	io.ReadCloser
	connection *http.ResponseController
	until      time.Time
}

// Read ignores that a deadline cannot be set: the writer of a test has no connection. A body that
// was not read to its end keeps its deadline, because nothing reads the rest of it.
func (b *deadlineBody) Read(p []byte) (int, error) {
	_ = b.connection.SetReadDeadline(b.until)
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}
