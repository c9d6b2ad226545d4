// Package signing authenticates short texts that the service gives to browsers and reads back:
// nobody else can make one, and one that was made for another purpose is not accepted.
package signing

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

const (
	keyPurpose = "despacho signing v1"
	timeBytes  = 8
)

// Signer signs and verifies with a key derived from SECRET_KEY.
type Signer struct{ key []byte }

// New derives the key from the text of SECRET_KEY.
func New(secretKey string) (*Signer, error) {
	key, err := hkdf.Key(sha256.New, []byte(secretKey), nil, keyPurpose, sha256.Size)
	return &Signer{key: key}, err
}

// Sign returns the payload with its expiry and their signature, in URL-safe characters.
func (s *Signer) Sign(purpose string, payload []byte, until time.Time) string {
	signed := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()))
	signed = append(signed, payload...)
	return base64.RawURLEncoding.EncodeToString(append(s.mac(purpose, signed), signed...))
}

// Open returns the payload of a text that Sign made for the same purpose and that has not expired.
func (s *Signer) Open(purpose, text string, now time.Time) (payload []byte, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < sha256.Size+timeBytes {
		return nil, false
	}
	mac, signed := raw[:sha256.Size], raw[sha256.Size:]
	if !hmac.Equal(mac, s.mac(purpose, signed)) || now.Unix() >= int64(binary.BigEndian.Uint64(signed)) {
		return nil, false
	}
	return signed[timeBytes:], true
}

func (s *Signer) mac(purpose string, signed []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	// The length separates the purpose from what follows.
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(purpose))))
	mac.Write([]byte(purpose))
	mac.Write(signed)
	return mac.Sum(nil)
}
