package despacho

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrSignature says that a request does not come from the service, was changed, or is an old one.
var ErrSignature = errors.New("despacho: the signature does not hold")

// tolerance is how far the sender's clock may be from the receiver's.
const tolerance = 5 * time.Minute

// Verify checks X-Service-Signature of a webhook's request over its raw body. While a secret is
// being changed, give both: either may have signed.
func Verify(header http.Header, body []byte, secrets ...string) error {
	timestamp := header.Get("X-Service-Timestamp")
	given := strings.Fields(header.Get("X-Service-Signature") + " " + header.Get("X-Service-Signature-Previous"))
	return verify(timestamp, given, secrets, func(secret string) (string, bool) {
		sum := sha256.Sum256(append([]byte(secret+"."+timestamp+"."), body...))
		return "sha256=" + hex.EncodeToString(sum[:]), true
	})
}

// VerifyStandard checks webhook-signature, the signature of Standard Webhooks, in the same way.
func VerifyStandard(header http.Header, body []byte, secrets ...string) error {
	timestamp := header.Get("Webhook-Timestamp")
	signed := append([]byte(header.Get("Webhook-Id")+"."+timestamp+"."), body...)
	return verify(timestamp, strings.Fields(header.Get("Webhook-Signature")), secrets, func(secret string) (string, bool) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), err == nil && len(key) > 0
	})
}

func verify(timestamp string, given, secrets []string, sign func(secret string) (signature string, valid bool)) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return ErrSignature
	}
	for _, secret := range secrets {
		expected, valid := sign(secret)
		for _, signature := range given {
			if valid && secret != "" && hmac.Equal([]byte(expected), []byte(signature)) {
				return nil
			}
		}
	}
	return ErrSignature
}
