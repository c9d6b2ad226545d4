// Package photourl makes and checks the addresses of delivery photos. An address is signed for one
// file and expires, wherever the file is stored.
package photourl

import (
	"regexp"
	"time"

	"despacho/internal/apperror"
	"despacho/internal/photos"
	"despacho/internal/signing"
)

// The errors that callers see.
var (
	ErrExpired = apperror.New(apperror.Forbidden, "photo_url_expired",
		"La dirección de la foto venció. Consulte el pedido: trae una nueva.")
	ErrInvalid = apperror.New(apperror.Forbidden, "photo_url_invalid",
		"La dirección de la foto está incompleta o no es válida. Consulte el pedido: trae una nueva.")
)

const (
	// Parameter is the query parameter with the signature.
	Parameter = "signature"
	// step is how long the same address is given out, so that browsers can use their copies.
	step = time.Hour
)

// Signer signs the addresses of photos and checks them.
type Signer struct {
	filesURL string
	lifetime time.Duration
	keys     *signing.Signer
}

// New makes a Signer of addresses under filesURL that work for a lifetime.
func New(filesURL string, lifetime time.Duration, keys *signing.Signer) *Signer {
	return &Signer{filesURL: filesURL, lifetime: lifetime, keys: keys}
}

// Unsigned is the address of a file without its signature.
func (s *Signer) Unsigned(name string) string { return s.filesURL + "/" + name }

// Signed is the address of a file. It works for the lifetime from now, rounded up to a full hour.
func (s *Signer) Signed(name string, now time.Time) string {
	return s.Unsigned(name) + s.query(name, now)
}

func (s *Signer) query(name string, now time.Time) string {
	until := now.Add(s.lifetime).Truncate(step).Add(step)
	return "?" + Parameter + "=" + s.keys.Sign(purpose(name), nil, until)
}

// Check returns for how much longer the signature of a file's address is valid, or ErrExpired or
// ErrInvalid.
func (s *Signer) Check(name, signature string, now time.Time) (left time.Duration, err error) {
	_, until, ok := s.keys.Read(purpose(name), signature)
	switch {
	case !ok:
		return 0, ErrInvalid
	case !now.Before(until):
		return 0, ErrExpired
	}
	return until.Sub(now), nil
}

// purpose binds a signature to one file.
func purpose(name string) string { return "photo " + name }

// photoMember is an unsigned address in the data of an event. Within a text its quotes would be
// escaped.
var photoMember = regexp.MustCompile(`"photo_url":"[^"\\?]*/([^"\\?/]+)"`)

// SignEvent signs the address in the stored data of an event, and leaves every other byte as it is.
func (s *Signer) SignEvent(data string, now time.Time) string {
	found := photoMember.FindStringSubmatchIndex(data)
	if found == nil {
		return data
	}
	name, end := data[found[2]:found[3]], found[3]
	if !photos.IsName(name) {
		return data
	}
	return data[:end] + s.query(name, now) + data[end:]
}
