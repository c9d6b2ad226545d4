package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

// writeStep is how much of a response is written under one write deadline.
const writeStep = 64 << 10

// bufferedResponse keeps a response in memory until the request has returned its slot. The status
// and the headers are those of the wrapped writer, which sends them with the first byte.
type bufferedResponse struct {
	gin.ResponseWriter
	content []byte
	written bool
	// stream, if set, writes the response instead of content: a file is not read into memory.
	stream func(http.ResponseWriter)
}

func bufferResponse(c *gin.Context) *bufferedResponse {
	r := &bufferedResponse{ResponseWriter: c.Writer}
	c.Writer = r
	return r
}

// Write copies: io.Writer does not allow it to keep p.
func (r *bufferedResponse) Write(p []byte) (int, error) {
	r.written = true
	r.content = append(r.content, p...)
	return len(p), nil
}

// WriteString is Write for a string.
func (r *bufferedResponse) WriteString(text string) (int, error) {
	r.written = true
	r.content = append(r.content, text...)
	return len(text), nil
}

// WriteHeaderNow marks the response as written; send writes the header.
func (r *bufferedResponse) WriteHeaderNow() { r.written = true }

// Written reports whether the handler has responded.
func (r *bufferedResponse) Written() bool { return r.written }

// Size is how many bytes were written.
func (r *bufferedResponse) Size() int { return len(r.content) }

// Flush does nothing: nothing is sent before the handler has ended.
func (r *bufferedResponse) Flush() {}

// Unwrap gives http.ResponseController the connection.
func (r *bufferedResponse) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// sendContent responds with content without copying it. Nobody may change it afterwards.
func sendContent(c *gin.Context, status int, contentType string, content []byte) {
	buffered, ok := c.Writer.(*bufferedResponse)
	if !ok || buffered.content != nil {
		c.Data(status, contentType, content)
		return
	}
	c.Header("Content-Type", contentType)
	c.Status(status)
	buffered.written, buffered.content = true, slices.Clip(content)
}

// sendStream responds with what write writes after the request has returned its slot. done is
// called in any case.
func sendStream(c *gin.Context, write func(http.ResponseWriter), done func()) {
	buffered, ok := c.Writer.(*bufferedResponse)
	if !ok {
		write(c.Writer)
		done()
		return
	}
	buffered.written = true
	buffered.stream = func(w http.ResponseWriter) {
		defer done()
		write(w)
	}
}

// send writes the response. The client has limit for each writeStep bytes, however long the
// response is: one that stops reading is disconnected after that time.
func (r *bufferedResponse) send(c *gin.Context, limit time.Duration) {
	c.Writer = r.ResponseWriter
	steps := &steppedWriter{ResponseWriter: r.ResponseWriter, connection: http.NewResponseController(r.ResponseWriter), limit: limit}
	if body, ok := c.Request.Body.(*requestBody); ok && !body.complete {
		_ = steps.connection.SetReadDeadline(body.discardDeadline())
	}
	if r.stream != nil {
		r.stream(steps)
		return
	}
	if len(r.content) > 0 {
		r.Header().Set("Content-Length", strconv.Itoa(len(r.content)))
	}
	steps.extend()
	r.ResponseWriter.WriteHeaderNow()
	_, _ = steps.Write(r.content)
}

// steppedWriter moves the write deadline with every writeStep bytes. It has no ReadFrom: sendfile
// would send a whole file under one deadline.
type steppedWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
	limit      time.Duration
}

// extend ignores that a deadline cannot be set: the writer of a test has no connection.
func (w *steppedWriter) extend() { _ = w.connection.SetWriteDeadline(time.Now().Add(w.limit)) }

// Write writes p in steps.
func (w *steppedWriter) Write(p []byte) (written int, err error) {
	for step := range slices.Chunk(p, writeStep) {
		w.extend()
		n, err := w.ResponseWriter.Write(step)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
