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

// Signer signs with a key derived from SECRET_KEY, and verifies with it or with those that it
// replaces.
type Signer struct {
	// keys has the current key first.
	keys [][]byte
}

// New derives the key from the text of SECRET_KEY. What was signed with one of the old keys is
// accepted, too.
func New(secretKey string, oldKeys ...string) (*Signer, error) {
	s := &Signer{}
	for _, text := range append([]string{secretKey}, oldKeys...) {
		key, err := hkdf.Key(sha256.New, []byte(text), nil, keyPurpose, sha256.Size)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

// Sign returns the payload with its expiry and their signature, in URL-safe characters.
func (s *Signer) Sign(purpose string, payload []byte, until time.Time) string {
	signed := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()))
	signed = append(signed, payload...)
	return base64.RawURLEncoding.EncodeToString(append(mac(s.keys[0], purpose, signed), signed...))
}

// Open returns the payload of a text that Sign made for the same purpose and that has not expired.
func (s *Signer) Open(purpose, text string, now time.Time) (payload []byte, ok bool) {
	payload, until, ok := s.Read(purpose, text)
	if !ok || !now.Before(until) {
		return nil, false
	}
	return payload, true
}

// Read returns the payload of a text that Sign made for the same purpose, and its expiry, which may
// be over.
func (s *Signer) Read(purpose, text string) (payload []byte, until time.Time, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	// Decoding ignores line breaks and the last bits: only the text that Sign made is accepted.
	if err != nil || len(raw) < sha256.Size+timeBytes || base64.RawURLEncoding.EncodeToString(raw) != text {
		return nil, time.Time{}, false
	}
	code, signed := raw[:sha256.Size], raw[sha256.Size:]
	for _, key := range s.keys {
		if hmac.Equal(code, mac(key, purpose, signed)) {
			return signed[timeBytes:], time.Unix(int64(binary.BigEndian.Uint64(signed)), 0), true
		}
	}
	return nil, time.Time{}, false
}

func mac(key []byte, purpose string, signed []byte) []byte {
	mac := hmac.New(sha256.New, key)
	// The length separates the purpose from what follows.
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(purpose))))
	mac.Write([]byte(purpose))
	mac.Write(signed)
	return mac.Sum(nil)
}
