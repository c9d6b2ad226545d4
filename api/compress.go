package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/panel"
)

// minCompressed is the size below which compressing saves nothing.
const minCompressed = 1 << 10

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compressPage has the response compressed for a client that accepts gzip. A page that another site
// opened is not, nor is one that shows a secret: the length of a compressed page that contains what
// the other site chose would tell about the rest of the page (BREACH).
func compressPage(c *gin.Context) {
	buffered, ok := c.Writer.(*bufferedResponse)
	if !ok || len(buffered.content) < minCompressed || buffered.Header().Get("Content-Encoding") != "" {
		return
	}
	if buffered.Header().Get("Cache-Control") != "no-store" {
		buffered.Header().Add("Vary", "Accept-Encoding") // no cache has a copy of the others
	}
	if !acceptsGzip(c.GetHeader("Accept-Encoding")) || c.GetHeader("Sec-Fetch-Site") == "cross-site" ||
		c.GetBool(panel.ShowsSecret) {
		return
	}
	var out bytes.Buffer
	writer := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(writer)
	writer.Reset(&out)
	_, err := writer.Write(buffered.content)
	if err != nil || writer.Close() != nil {
		return // a buffer takes everything; the page is sent as it is
	}
	c.Header("Content-Encoding", "gzip")
	buffered.content = out.Bytes()
}

// streamPage sends a response while it is written, compressed if the client accepts it.
func (s *Server) streamPage(c *gin.Context, write func(io.Writer) error) {
	ctx := c.Request.Context()
	compressed := acceptsGzip(c.GetHeader("Accept-Encoding")) && c.GetHeader("Sec-Fetch-Site") != "cross-site"
	if compressed {
		c.Header("Content-Encoding", "gzip")
	}
	c.Status(http.StatusOK)
	w := unbuffered(c)
	// The writer of a test has no connection.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(panel.DownloadTime))
	var err error
	if compressed {
		zipper := gzip.NewWriter(w)
		if err = write(zipper); err == nil {
			err = zipper.Close()
		}
	} else {
		err = write(w)
	}
	if err != nil {
		s.log.WarnContext(ctx, "response not sent whole", "route", c.FullPath(), "error", err)
		// The status has been sent: only a broken connection tells the client.
		panic(http.ErrAbortHandler)
	}
}

// answerUnchanged answers 304 to a script whose copy of a part of a page is current.
func answerUnchanged(c *gin.Context) {
	buffered, ok := c.Writer.(*bufferedResponse)
	if !ok || c.Request.Method != http.MethodGet || !panel.IsFragment(c) || buffered.Status() != http.StatusOK {
		return
	}
	tag := "W/" + etagOf(buffered.content)
	c.Header("ETag", tag)
	if strings.TrimSpace(c.GetHeader("If-None-Match")) == tag {
		c.Status(http.StatusNotModified)
		buffered.content = nil
		buffered.Header().Del("Content-Type")
	}
}
