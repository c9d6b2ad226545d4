package photos

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"despacho/internal/apperror"
)

// The errors that callers see.
var (
	ErrNotStored = &apperror.Error{
		Kind: apperror.Unavailable, Code: "photo_not_stored", RetryAfter: 30 * time.Second,
		Message: "La foto no se pudo guardar en este momento. Vuelva a intentarlo en unos segundos, o registre la entrega sin foto.",
	}
	ErrTooLarge = apperror.New(apperror.TooLarge, "photo_too_large", "La foto supera el máximo de 8 MiB.")
	ErrNotPhoto = &apperror.Error{
		Kind: apperror.Invalid, Code: "invalid_photo", Message: "La foto " + notPhoto + ".",
		Fields: []apperror.Field{{Field: photoField, Message: notPhoto}},
	}
)

const (
	notPhoto = "debe ser una imagen JPEG, PNG o WebP"
	// thumbnailSide is enough for the panel on a high-density screen.
	thumbnailSide   = 480
	thumbnailEnding = ".thumb.jpg"
	// uploadPrefix marks a file that is being written.
	uploadPrefix = ".upload-"
)

// Store is a directory of photos with unguessable names.
type Store struct{ Dir string }

// Prepare creates the directory, so that an unusable one is detected at start-up.
func (s Store) Prepare() error {
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return fmt.Errorf("FILES_DIR: %w", err)
	}
	return nil
}

// Save checks a photo by its content, removes its metadata, and stores it with its thumbnail. Each
// owner has its turn to use the processor for it.
func (s Store) Save(ctx context.Context, owner string, content []byte) (name string, err error) {
	photo, thumbnail, format, err := clean(ctx, owner, content, thumbnailSide)
	switch {
	case errors.Is(err, errTooLarge):
		return "", ErrTooLarge
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", ErrNotPhoto.Because(err)
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // crypto/rand ends the process if the system has no randomness
	name = hex.EncodeToString(random[:]) + "." + format.Extension
	// The thumbnail is written first, so that every stored photo has one.
	if err := errors.Join(s.write(ThumbnailName(name), thumbnail), s.write(name, photo)); err != nil {
		return "", ErrNotStored.Because(errors.Join(err, s.Remove(name)))
	}
	return name, nil
}

// write writes a temporary file and renames it, so that a full disk or a crash leaves no partial
// photo.
func (s Store) write(name string, content []byte) error {
	temporary, err := os.CreateTemp(s.Dir, uploadPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), filepath.Join(s.Dir, name))
}

// CheckWritable writes a small file and removes it.
func (s Store) CheckWritable() error {
	file, err := os.CreateTemp(s.Dir, uploadPrefix+"*")
	if err != nil {
		return err
	}
	_, err = file.WriteString("x")
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// Remove deletes a photo and its thumbnail, wherever they are. A missing file is not an error.
func (s Store) Remove(name string) error {
	return errors.Join(s.remove(name), s.remove(ThumbnailName(name)))
}

func (s Store) remove(name string) error {
	return errors.Join(
		ignoreMissing(os.Remove(filepath.Join(s.Dir, name))), ignoreMissing(os.Remove(filepath.Join(s.quarantine(), name))),
	)
}

var fileName = regexp.MustCompile(`^[0-9a-f]{32}\.(thumb\.jpg|jpg|png|webp)$`)

// IsName reports whether a name can be that of a stored photo or thumbnail.
func IsName(name string) bool { return fileName.MatchString(name) }

// Open opens a photo or a thumbnail, also one in quarantine: whoever knows its name has it from a
// delivery, which the database may know again. Any other name gives fs.ErrNotExist.
func (s Store) Open(name string) (*os.File, error) {
	if !IsName(name) {
		return nil, fs.ErrNotExist
	}
	file, err := os.Open(filepath.Join(s.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return os.Open(filepath.Join(s.quarantine(), name))
	}
	return file, err
}

// ThumbnailName is the name of a photo's thumbnail.
func ThumbnailName(photo string) string {
	return strings.TrimSuffix(photo, filepath.Ext(photo)) + thumbnailEnding
}
