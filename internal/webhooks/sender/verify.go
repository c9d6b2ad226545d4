package sender

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Tolerance is the largest difference between a signed timestamp and the receiver's clock.
const Tolerance = 5 * time.Minute

var (
	// ErrTimestamp means that the timestamp is missing, malformed or outside Tolerance.
	ErrTimestamp = errors.New("webhook: timestamp missing or too far from now")
	// ErrSignature means that no given secret made the signature.
	ErrSignature = errors.New("webhook: signature does not match")
)

// Verify is a receiver's check: the contract's signature must match one of the secrets, and so must
// the Standard Webhooks signature if present.
func Verify(headers http.Header, body []byte, now time.Time, secrets ...string) error {
	timestamp := headers.Get(HeaderTimestamp)
	if err := verifyTimestamp(timestamp, now); err != nil {
		return err
	}
	if !signedByService(headers.Get(HeaderSignature), timestamp, body, secrets) {
		return ErrSignature
	}
	if headers.Get(HeaderStandardSignature) == "" {
		return nil
	}
	if err := verifyTimestamp(headers.Get(HeaderStandardTimestamp), now); err != nil {
		return err
	}
	if !signedByStandard(headers, body, secrets) {
		return ErrSignature
	}
	return nil
}

func verifyTimestamp(timestamp string, now time.Time) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return ErrTimestamp
	}
	return nil
}

func signedByService(signature, timestamp string, body []byte, secrets []string) bool {
	for _, secret := range secrets {
		expected := signService(secret, timestamp, body)
		if subtle.ConstantTimeCompare([]byte(signature), []byte(expected)) == 1 {
			return true
		}
	}
	return false
}

func signedByStandard(headers http.Header, body []byte, secrets []string) bool {
	for _, secret := range secrets {
		key, err := decodeSecret(secret)
		if err != nil {
			continue
		}
		// The library uses the system clock; the timestamp was checked against now above.
		verifier, err := standardwebhooks.NewWebhookRaw(key)
		if err == nil && verifier.VerifyIgnoringTimestamp(body, headers) == nil {
			return true
		}
	}
	return false
}
