package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"
)

// bufferedResponse keeps a response in memory until its handler has ended: a handler that fails can
// still respond with its error, and what was written is compressed and counted as a whole. The
// status and the headers are those of the wrapped writer, which sends them with the first byte.
type bufferedResponse struct {
	gin.ResponseWriter
	content []byte
	written bool
}

func bufferResponse(c *gin.Context) { c.Writer = &bufferedResponse{ResponseWriter: c.Writer} }

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

// WriteHeaderNow marks the response as written; sendBuffered writes the header.
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

// unbuffered returns the writer for a response that is sent while it is written. The handler may
// write no other.
func unbuffered(c *gin.Context) http.ResponseWriter {
	if buffered, ok := c.Writer.(*bufferedResponse); ok {
		c.Writer = buffered.ResponseWriter
	}
	return c.Writer
}

// sendBuffered sends the response, unless it was sent while it was written.
func sendBuffered(c *gin.Context) {
	buffered, ok := c.Writer.(*bufferedResponse)
	if !ok {
		return
	}
	c.Writer = buffered.ResponseWriter
	if len(buffered.content) > 0 {
		c.Header("Content-Length", strconv.Itoa(len(buffered.content)))
	}
	c.Writer.WriteHeaderNow()
	_, _ = c.Writer.Write(buffered.content)
}
