package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// serveWithETag sends content with its ETag, or 304 to a client whose copy is current.
func serveWithETag(c *gin.Context, contentType, tag string, content []byte) error {
	c.Header("ETag", tag)
	c.Header("Cache-Control", "public, max-age=3600")
	for known := range strings.SplitSeq(c.GetHeader("If-None-Match"), ",") {
		known = strings.TrimPrefix(strings.TrimSpace(known), "W/")
		if known == tag || known == "*" {
			c.Status(http.StatusNotModified)
			c.Writer.WriteHeaderNow()
			return nil
		}
	}
	sendContent(c, http.StatusOK, contentType, content)
	return nil
}

// etagOf is the ETag of a content.
func etagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
