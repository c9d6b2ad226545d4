// Package totp makes and checks the time-based one-time passwords of RFC 6238, as the usual
// applications show them: SHA-1, 30 seconds, 6 digits.
package totp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
)

const (
	// Digits is the length of a code.
	Digits = 6
	period = 30
	// drift is how many steps a client's clock may be ahead or behind.
	drift       = 1
	secretBytes = 20
)

// encoding is that of secrets in QR codes and on screens.
var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret generates a secret.
func NewSecret() []byte {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never returns an error
	return secret
}

// Text is a secret in the form that people can type into their application.
func Text(secret []byte) string { return encoding.EncodeToString(secret) }

// URI is what the application reads from a QR code. Its label is the issuer, a colon and the
// account, so that the issuer can have no colon of its own.
func URI(issuer, account string, secret []byte) string {
	issuer = strings.Join(strings.Fields(strings.ReplaceAll(issuer, ":", " ")), " ")
	query := url.Values{"secret": {Text(secret)}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {fmt.Sprint(Digits)},
		"period": {fmt.Sprint(period)}}
	encoded := strings.ReplaceAll(query.Encode(), "+", "%20") // applications show a + as it is
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + account, RawQuery: encoded}).String()
}

// Step is the time step of a moment.
func Step(at time.Time) int64 { return at.Unix() / period }

// Code is the code of a step.
func Code(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	value := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", Digits, value%1_000_000)
}

// Match returns the step whose code was typed, of those around the current one. Whoever accepts it
// must not accept the same or an earlier step again.
func Match(secret []byte, typed string, now time.Time) (step int64, ok bool) {
	for at := Step(now) - drift; at <= Step(now)+drift; at++ {
		if subtle.ConstantTimeCompare([]byte(Code(secret, at)), []byte(typed)) == 1 {
			step, ok = at, true
		}
	}
	return step, ok
}
