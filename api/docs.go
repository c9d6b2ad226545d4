package api

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"despacho/api/docs"
)

//go:embed openapi.yaml
var openAPI []byte

// OpenAPI returns openapi.yaml.
func OpenAPI() []byte { return bytes.Clone(openAPI) }

var openAPIDocument = sync.OnceValues(func() (*document, error) {
	return newDocument("application/yaml; charset=utf-8", openAPI)
})

func (s *Server) serveOpenAPI(c *gin.Context) error {
	served, err := openAPIDocument()
	if err != nil {
		return err
	}
	return served.serve(c)
}

// reference is openapi.yaml rendered as an HTML page.
type reference struct {
	page   *document
	policy string
}

func newReference(baseURL string) (*reference, error) {
	rendered, err := docs.Render(openAPI, baseURL)
	if err != nil {
		return nil, err
	}
	page, err := newDocument("text/html; charset=utf-8", rendered.HTML)
	return &reference{page: page, policy: rendered.Policy}, err
}

func (s *Server) serveReference(c *gin.Context) error {
	served, err := s.reference()
	if err != nil {
		return err
	}
	c.Header("Content-Security-Policy", served.policy)
	return served.page.serve(c)
}

// document is a static text, compressed once for the clients that accept gzip.
type document struct {
	contentType       string
	plain, compressed encoded
}

// encoded is a document in one coding.
type encoded struct {
	content []byte
	tag     string
}

func newDocument(contentType string, content []byte) (*document, error) {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	packed := out.Bytes()
	return &document{contentType: contentType, plain: encoded{content, etagOf(content)}, compressed: encoded{packed, etagOf(packed)}}, nil
}

func (d *document) serve(c *gin.Context) error {
	c.Header("Vary", "Accept-Encoding")
	form := d.plain
	if acceptsGzip(c.GetHeader("Accept-Encoding")) {
		form = d.compressed
		c.Header("Content-Encoding", "gzip")
	}
	return serveWithETag(c, d.contentType, form.tag, form.content)
}

// acceptsGzip reads Accept-Encoding. A coding with weight 0 is not accepted.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(coding, "gzip") {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
