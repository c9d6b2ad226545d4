package api

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
)

var errNoFile = apperror.New(apperror.NotFound, "file_not_found", "El archivo no existe.")

// servePhoto serves a delivery photo or its thumbnail. The name cannot be guessed and is the only
// credential.
func (s *Server) servePhoto(c *gin.Context) error {
	file, err := s.files.Open(c.Param("name"))
	if errors.Is(err, fs.ErrNotExist) {
		return errNoFile
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	c.Header("Cache-Control", "private, max-age=31536000, immutable")
	c.Header("Content-Security-Policy", "default-src 'none'")
	sendStream(c, func(w http.ResponseWriter) {
		http.ServeContent(w, c.Request, info.Name(), info.ModTime(), file)
	}, func() { _ = file.Close() })
	return nil
}
