package api

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/photos"
	"despacho/internal/photourl"
)

var errNoFile = apperror.New(apperror.NotFound, "file_not_found", "El archivo no existe.")

// photo is handle for addresses of photos, which people open in a browser too: for them an error is
// a page.
func (s *Server) photo(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := run(c, h)
		switch {
		case err == nil:
		case strings.Contains(c.GetHeader("Accept"), "text/html"):
			s.failPhotoPage(c, err)
		default:
			s.fail(c, err)
		}
	}
}

func (s *Server) failPhotoPage(c *gin.Context, err error) {
	f, present := s.report(c, err)
	if !present {
		return
	}
	c.Header("Content-Security-Policy", s.pages.Policy())
	protectPage(c)
	render := func(w io.Writer) error { return s.pages.NoPhoto(w, f.Message, s.config.BaseURL+"/panel") }
	if err := showPage(c, statusOf[f.Kind], render); err != nil {
		s.fail(c, err)
	}
}

// servePhoto serves a delivery photo or its thumbnail. The signature of the address is the only
// credential, and no copy is kept for longer than it is valid. What is in a bucket passes through
// here as well: an address of the bucket's own would work on after an erasure, and without these
// headers.
func (s *Server) servePhoto(c *gin.Context) error {
	name := c.Param("name")
	if !photos.IsName(name) {
		return errNoFile
	}
	left, err := s.photoURLs.Check(name, c.Query(photourl.Parameter), s.clock.Now())
	if err != nil {
		return err
	}
	file, err := s.photos.Open(c.Request.Context(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoFile
	}
	if err != nil {
		return err
	}
	c.Header("Cache-Control", fmt.Sprintf("private, max-age=%d, immutable", int(left.Seconds())))
	c.Header("Content-Security-Policy", "default-src 'none'")
	defer file.Close()
	http.ServeContent(unbuffered(c), c.Request, name, file.Modified, file)
	return nil
}
