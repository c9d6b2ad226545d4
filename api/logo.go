package api

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/operators"
	"despacho/internal/photos"
	"despacho/models"
)

var errNotForm = apperror.New(apperror.UnsupportedMedia, "unsupported_media_type",
	"El cuerpo debe enviarse con Content-Type: multipart/form-data.")

// uploadLogo reads the logo from a multipart form.
func (s *Server) uploadLogo(c *gin.Context) error {
	if !photos.IsForm(c.Request) {
		return errNotForm
	}
	_, picture, err := photos.ReadParts(c.Request, operators.LogoField)
	if err != nil {
		return operators.LogoError(err)
	}
	operator, err := s.operators.SetLogo(c.Request.Context(), signedIn(c), picture)
	if err != nil {
		return err
	}
	return ok(c, s.viewOfSettings(operator))
}

func (s *Server) removeLogo(c *gin.Context) error {
	operator, err := s.operators.RemoveLogo(c.Request.Context(), signedIn(c))
	if err != nil {
		return err
	}
	return ok(c, s.viewOfSettings(operator))
}

// serveLogo serves an uploaded logo to anybody. Delivery photos are in the same place: what no
// operator has as its logo does not exist here. A logo never changes, another one has another name.
func (s *Server) serveLogo(c *gin.Context) error {
	name := c.Param("name")
	if !photos.IsName(name) {
		return errNoFile
	}
	var logos int64
	err := s.db.Query(c.Request.Context()).Model(&models.Operator{}).Where("logo_photo = ?", name).Count(&logos).Error
	if err != nil {
		return err
	}
	if logos == 0 {
		return errNoFile
	}
	file, err := s.photos.Open(c.Request.Context(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoFile
	}
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "public, max-age=31536000, immutable")
	c.Header("Content-Security-Policy", "default-src 'none'")
	defer file.Close()
	http.ServeContent(unbuffered(c), c.Request, name, file.Modified, file)
	return nil
}
