package photos

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
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
	ErrNotReadable = &apperror.Error{
		Kind: apperror.Unavailable, Code: "photo_not_readable", RetryAfter: 30 * time.Second,
		Message: "La foto no se puede mostrar en este momento. Vuelva a intentarlo en unos segundos.",
	}
	ErrTooLarge = apperror.New(apperror.TooLarge, "photo_too_large", "La foto supera el máximo de 8 MiB.")
	ErrNotPhoto = &apperror.Error{Kind: apperror.Invalid, Code: "invalid_photo"}
)

// refusal is ErrNotPhoto with a reason.
func refusal(reason string) *apperror.Error {
	refused := ErrNotPhoto.Saying("La foto " + reason + ".")
	refused.Fields = []apperror.Field{{Field: PhotoField, Message: reason}}
	return refused
}

const (
	notPhoto        = "debe ser una imagen JPEG, PNG o WebP"
	tooManyPixels   = "tiene demasiados píxeles: tómela con menos resolución o redúzcala"
	unreadable      = "está dañada, incompleta o es de un tipo que no se admite: tómela o guárdela de nuevo"
	photoEnding     = ".jpg"
	logoEnding      = ".png"
	thumbnailEnding = ".thumb.jpg"
	// discardTimeout bounds what a caller waits for the removal of a photo that is not needed.
	discardTimeout = 2 * time.Second
	// uploadPrefix marks a file that is being written.
	uploadPrefix = ".upload-"
)

// Store is photos with unguessable names, in a directory or a bucket.
type Store struct {
	backend backend
	// fallback is another backend that photos are read and removed from; nil if there is none.
	fallback backend
}

// Options say where photos are.
type Options struct {
	// Location is where they are stored: a directory, or the address of a bucket.
	Location string
	// Fallback is where they are read from as well, and removed; empty is nowhere.
	Fallback string
	// Timeout is how long a bucket may take to answer.
	Timeout time.Duration
}

// NewStore makes the store of a location, without using it.
func NewStore(options Options) (Store, error) {
	var store Store
	for _, one := range []struct {
		text string
		to   *backend
	}{{options.Location, &store.backend}, {options.Fallback, &store.fallback}} {
		if one.text == "" {
			continue
		}
		location, err := ParseLocation(one.text)
		if err != nil {
			return Store{}, err
		}
		if *one.to, err = newBackend(location, options.Timeout); err != nil {
			return Store{}, err
		}
	}
	return store, nil
}

// backends are all that the store reads.
func (s Store) backends() []backend {
	if s.fallback == nil {
		return []backend{s.backend}
	}
	return []backend{s.backend, s.fallback}
}

// Prepare creates the directory, so that an unusable one is detected at start-up.
func (s Store) Prepare() error {
	if err := s.backend.prepare(); err != nil {
		return fmt.Errorf("PHOTOS or FILES_DIR: %w", err)
	}
	return nil
}

// Directory is the directory of the photos; empty if they are in a bucket.
func (s Store) Directory() string {
	path, _ := s.backend.(directory)
	return string(path)
}

// CheckWritable returns why no photo can be stored at the moment.
func (s Store) CheckWritable(ctx context.Context) error { return s.backend.checkWritable(ctx) }

// Save checks a photo by its content, and stores it, encoded anew, with its thumbnail.
func (s Store) Save(ctx context.Context, content []byte) (name string, err error) {
	return s.SaveAs(ctx, newBase(), content)
}

// SaveAs is Save with what the name is made of, for a photo whose name is known beforehand.
func (s Store) SaveAs(ctx context.Context, base [16]byte, content []byte) (name string, err error) {
	photo, thumbnail, err := encodePhoto(ctx, content)
	if err != nil {
		return "", rejection(ctx, err)
	}
	name = NameOf(base)
	// The thumbnail is written first, so that every stored photo has one. A sweep deletes what a
	// failure leaves.
	if err = s.backend.write(ctx, ThumbnailName(name), thumbnail); err == nil {
		err = s.backend.write(ctx, name, photo)
	}
	if err != nil {
		return "", ErrNotStored.Because(err)
	}
	return name, nil
}

// SaveLogo checks a picture by its content as Save does, and stores it as a PNG, without a
// thumbnail.
func (s Store) SaveLogo(ctx context.Context, content []byte) (name string, err error) {
	logo, err := encodeLogo(ctx, content)
	if err != nil {
		return "", rejection(ctx, err)
	}
	base := newBase()
	name = hex.EncodeToString(base[:]) + logoEnding
	if err := s.backend.write(ctx, name, logo); err != nil {
		return "", ErrNotStored.Because(err)
	}
	return name, nil
}

// rejection is what a caller is told about a picture that cannot be used.
func rejection(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return ErrTooLarge
	case ctx.Err() != nil:
		return err
	case errors.Is(err, ErrTooManyPixels):
		return refusal(tooManyPixels).Because(err)
	case errors.Is(err, ErrUnreadable):
		return refusal(unreadable).Because(err)
	}
	return refusal(notPhoto).Because(err)
}

// newBase is what an unguessable name is made of.
func newBase() (base [16]byte) {
	_, _ = rand.Read(base[:]) // crypto/rand ends the process if the system has no randomness
	return base
}

// Discard is Remove for a photo that is not needed after all, by a caller who does not wait for
// long, and although its request has ended. A sweep deletes what is left.
func (s Store) Discard(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	return s.Remove(ctx, name)
}

// Remove deletes a photo and its thumbnail, wherever they are. A missing file is not an error.
func (s Store) Remove(ctx context.Context, name string) error {
	var errs []error
	for _, p := range s.backends() {
		errs = append(errs, removePhoto(ctx, p, name))
	}
	return errors.Join(errs...)
}

func removePhoto(ctx context.Context, p backend, name string) error {
	return errors.Join(removeFile(ctx, p, name), removeFile(ctx, p, ThumbnailName(name)))
}

func removeFile(ctx context.Context, p backend, name string) error {
	return errors.Join(p.remove(ctx, name), p.remove(ctx, quarantined(name)))
}

var fileName = regexp.MustCompile(`^[0-9a-f]{32}\.(thumb\.jpg|jpg|png)$`)

// NameOf is the name of a photo that is stored with SaveAs.
func NameOf(base [16]byte) string { return hex.EncodeToString(base[:]) + photoEnding }

// IsName reports whether a name can be that of a stored photo or thumbnail.
func IsName(name string) bool { return fileName.MatchString(name) }

// Open opens a photo or a thumbnail, also one in quarantine: whoever knows its name has it from a
// delivery, which the database may know again. Any other name gives fs.ErrNotExist, and a backend
// that cannot be read ErrNotReadable.
func (s Store) Open(ctx context.Context, name string) (*File, error) {
	if !IsName(name) {
		return nil, fs.ErrNotExist
	}
	var errs []error
	for _, p := range s.backends() {
		for _, path := range []string{name, quarantined(name)} {
			file, err := p.open(ctx, path)
			if err == nil {
				return file, nil
			}
			if err = ignoreMissing(err); err != nil {
				errs = append(errs, err)
				break // the quarantine of this backend fails as well
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, ErrNotReadable.Because(err)
	}
	return nil, fs.ErrNotExist
}

// ThumbnailName is the name of a photo's thumbnail.
func ThumbnailName(photo string) string {
	return strings.TrimSuffix(photo, path.Ext(photo)) + thumbnailEnding
}
