package apptest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// LateBody gives a request a body that is sent after before was called, which is when the server,
// having checked who sends it, asks for the body. The request is sent with the returned client.
func LateBody(t testing.TB, request *http.Request, content []byte, before func()) *http.Client {
	request.Body = io.NopCloser(&lateReader{Reader: bytes.NewReader(content), before: before})
	request.ContentLength = int64(len(content))
	request.Header.Set("Expect", "100-continue")
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// lateReader calls before ahead of the first read.
type lateReader struct {
	io.Reader
	before func()
	once   sync.Once
}

func (r *lateReader) Read(into []byte) (int, error) {
	r.once.Do(r.before)
	return r.Reader.Read(into)
}
