package api

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"net/http"
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

// newReference renders openapi.yaml as the files of the reference, by their paths.
func newReference(baseURL string) (map[string]*document, error) {
	files, err := docs.Render(openAPI, baseURL)
	if err != nil {
		return nil, err
	}
	served := make(map[string]*document, len(files))
	for path, file := range files {
		if served[path], err = newDocument(file.ContentType, file.Content); err != nil {
			return nil, err
		}
	}
	return served, nil
}

func (s *Server) serveReference(c *gin.Context) error {
	files, err := s.reference()
	if err != nil {
		return err
	}
	file, known := files[c.Request.URL.Path]
	if !known {
		s.noRoute(c)
		return nil
	}
	c.Header("Content-Security-Policy", docs.Policy)
	return file.serve(c)
}

func (s *Server) redirectToReference(c *gin.Context) error {
	c.Redirect(http.StatusMovedPermanently, docs.Root)
	return nil
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
	return &document{contentType: contentType, plain: encoded{content, etagOf(content)},
		compressed: encoded{packed, etagOf(packed)}}, nil
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
