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
	ErrShortKey = fmt.Errorf("secretbox: the secret key needs at least %d characters", MinKeyLength)
	// ErrOpen means that a value was not encrypted with this key and context, or was changed since.
	ErrOpen = errors.New("secretbox: the value cannot be opened with this key and context")
)

// Cipher encrypts and decrypts with one key. It is safe for concurrent use.
type Cipher struct {
	aead cipher.AEAD
}

// New derives the encryption key from the text of SECRET_KEY.
func New(secretKey string) (*Cipher, error) { return NewFor(keyPurpose, secretKey) }

// NewFor derives the encryption key from a secret text and a purpose: the same text gives another
// key for each purpose.
func NewFor(purpose, secretKey string) (*Cipher, error) {
	if utf8.RuneCountInString(secretKey) < MinKeyLength {
		return nil, ErrShortKey
	}
	key, err := hkdf.Key(sha256.New, []byte(secretKey), nil, purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("secretbox: derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("secretbox: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("secretbox: %w", err)
	}
	return &Cipher{aead: aead}, nil
}

// Seal encrypts a secret. aad is its context (such as the row's id), which Open needs too.
func (b *Cipher) Seal(secret, aad []byte) ([]byte, error) {
	return b.aead.Seal([]byte{versionAESGCM}, nil, secret, versioned(aad)), nil
}

// Open decrypts the result of Seal with the same key and context.
func (b *Cipher) Open(sealed, aad []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != versionAESGCM {
		return nil, ErrOpen
	}
	secret, err := b.aead.Open(nil, nil, sealed[1:], versioned(aad))
	if err != nil {
		return nil, ErrOpen
	}
	return secret, nil
}

// versioned includes the version byte in the authenticated data, so that it cannot be changed.
func versioned(aad []byte) []byte {
	return slices.Concat([]byte{versionAESGCM}, aad)
}
