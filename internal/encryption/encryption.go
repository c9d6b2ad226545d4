// Package encryption encrypts small secrets for storage, with AES-GCM.
package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// MinKeyLength is the shortest SECRET_KEY accepted, in characters.
const MinKeyLength = 32

const (
	// versionAESGCM is the first byte of every encrypted value, so that another cipher can be told
	// apart later.
	versionAESGCM = 1
	keyPurpose    = "despacho secretbox v1"
	keyBytes      = 32
)

var (
	// ErrShortKey means that the secret key has fewer than MinKeyLength characters.
	ErrShortKey = fmt.Errorf("encryption: the secret key needs at least %d characters", MinKeyLength)
	// ErrOpen means that a value was not encrypted with this key and context, or was changed since.
	ErrOpen = errors.New("encryption: the value cannot be opened with this key and context")
)

// Cipher encrypts with one key, and decrypts with it or with those that it replaces. It is safe for
// concurrent use.
type Cipher struct {
	// aeads has the current key first.
	aeads []cipher.AEAD
}

// New derives the encryption key from the text of SECRET_KEY. Values that were encrypted with one
// of the old keys can be decrypted, too.
func New(secretKey string, oldKeys ...string) (*Cipher, error) {
	return NewFor(keyPurpose, secretKey, oldKeys...)
}

// NewFor is New for another purpose: the same text gives another key for each purpose.
func NewFor(purpose, secretKey string, oldKeys ...string) (*Cipher, error) {
	c := &Cipher{}
	for _, key := range append([]string{secretKey}, oldKeys...) {
		aead, err := newAEAD(purpose, key)
		if err != nil {
			return nil, err
		}
		c.aeads = append(c.aeads, aead)
	}
	return c, nil
}

func newAEAD(purpose, secretKey string) (cipher.AEAD, error) {
	if utf8.RuneCountInString(secretKey) < MinKeyLength {
		return nil, ErrShortKey
	}
	key, err := hkdf.Key(sha256.New, []byte(secretKey), nil, purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("encryption: derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("encryption: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("encryption: %w", err)
	}
	return aead, nil
}

// Seal encrypts a secret. aad is its context (such as the row's id), which Open needs too.
func (c *Cipher) Seal(secret, aad []byte) []byte {
	return c.aeads[0].Seal([]byte{versionAESGCM}, nil, secret, versioned(aad))
}

// Open decrypts the result of Seal with the same context and the current or an old key.
func (c *Cipher) Open(sealed, aad []byte) ([]byte, error) {
	secret, _, err := c.open(sealed, aad)
	return secret, err
}

func (c *Cipher) open(sealed, aad []byte) (secret []byte, key int, err error) {
	if len(sealed) == 0 || sealed[0] != versionAESGCM {
		return nil, 0, ErrOpen
	}
	for key, aead := range c.aeads {
		if secret, err := aead.Open(nil, nil, sealed[1:], versioned(aad)); err == nil {
			return secret, key, nil
		}
	}
	return nil, 0, ErrOpen
}

// Reseal encrypts a value with the current key; changed is false if it was so already.
func (c *Cipher) Reseal(sealed, aad []byte) (resealed []byte, changed bool, err error) {
	secret, key, err := c.open(sealed, aad)
	if err != nil || key == 0 {
		return sealed, false, err
	}
	return c.Seal(secret, aad), true, nil
}

// versioned includes the version byte in the authenticated data, so that it cannot be changed.
func versioned(aad []byte) []byte {
	return slices.Concat([]byte{versionAESGCM}, aad)
}
