// Package sender builds, signs and sends webhook requests (contract section 6).
package sender

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	// Standard Webhooks allows secrets of 24 to 64 bytes.
	minSecretBytes, maxSecretBytes = 24, 64
)

// ErrSecret means that a signing secret is missing or malformed.
var ErrSecret = errors.New("webhook: no usable signing secret")

// NewSecret generates a signing secret.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never returns an error: it crashes the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// ValidSecret reports whether a secret can sign requests.
func ValidSecret(secret string) bool {
	_, err := decodeSecret(secret)
	return err == nil
}

// decodeSecret returns the key bytes that Standard Webhooks signs with.
func decodeSecret(secret string) ([]byte, error) {
	encoded, prefixed := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !prefixed || len(key) < minSecretBytes || len(key) > maxSecretBytes {
		return nil, ErrSecret
	}
	return key, nil
}
