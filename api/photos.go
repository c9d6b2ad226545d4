package api

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"github.com/gin-gonic/gin"

	"despacho/internal/fault"
	"despacho/internal/photo"
)

// photoStore keeps delivery-proof photos under names that cannot be guessed.
type photoStore struct {
	dir string
}

func newPhotoStore(dir string) (*photoStore, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("FILES_DIR: %w", err)
	}
	return &photoStore{dir: dir}, nil
}

// save checks a photo by its content, takes out what tells where it was taken, and stores it.
func (p *photoStore) save(content []byte) (name string, err error) {
	clean, format, err := photo.Clean(content)
	switch {
	case errors.Is(err, photo.ErrTooLarge):
		return "", errPhotoTooLarge
	case err != nil:
		message := "debe ser una imagen JPEG, PNG o WebP"
		return "", &fault.Error{
			Kind: fault.Invalid, Code: "invalid_photo", Message: "La foto " + message + ".",
			Fields: []fault.Field{{Field: "photo", Message: message}},
		}
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	name = hex.EncodeToString(random[:]) + "." + format.Extension
	// Written beside and renamed: a full disk or a crash leaves no half photo under a real name.
	temporary, err := os.CreateTemp(p.dir, ".upload-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(clean)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return "", err
	}
	return name, os.Rename(temporary.Name(), filepath.Join(p.dir, name))
}

func (p *photoStore) remove(name string) error { return os.Remove(filepath.Join(p.dir, name)) }

var photoName = regexp.MustCompile(`^[0-9a-f]{32}\.(jpg|png|webp)$`)

func (s *Server) servePhoto(c *gin.Context) error {
	notFound := fault.New(fault.NotFound, "file_not_found", "El archivo no existe.")
	name := c.Param("name")
	if !photoName.MatchString(name) {
		return notFound
	}
	file, err := os.Open(filepath.Join(s.files.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return notFound
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "private, max-age=31536000, immutable")
	c.Header("Content-Security-Policy", "default-src 'none'")
	http.ServeContent(c.Writer, c.Request, name, info.ModTime(), file)
	return nil
}
