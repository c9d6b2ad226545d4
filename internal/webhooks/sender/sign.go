package sender

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The headers of contract 6.2.
const (
	HeaderEvent     = "X-Service-Event"
	HeaderTimestamp = "X-Service-Timestamp"
	HeaderSignature = "X-Service-Signature"
)

// HeaderPreviousSignature is an addition to the contract: after a rotation it holds the signature
// made with the previous secret, after several rotations in a row one for each, separated by
// spaces.
const HeaderPreviousSignature = "X-Service-Signature-Previous"

// The headers of Standard Webhooks 1.0.
const (
	HeaderStandardID        = "Webhook-Id"
	HeaderStandardTimestamp = "Webhook-Timestamp"
	HeaderStandardSignature = "Webhook-Signature"
)

const signatureScheme = "sha256="

// Headers signs a body with both schemes. The first secret is the current one and makes the
// contract's signature, of which there is one; during a rotation each of the others makes a
// previous signature and an additional Standard Webhooks signature.
func Headers(event, id string, at time.Time, body []byte, secrets ...string) (http.Header, error) {
	if len(secrets) == 0 {
		return nil, ErrSecret
	}
	standard := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		signature, err := signStandard(secret, id, at, body)
		if err != nil {
			return nil, err
		}
		standard = append(standard, signature)
	}
	timestamp := unixSeconds(at)
	headers := http.Header{}
	headers.Set("Content-Type", "application/json")
	headers.Set(HeaderEvent, event)
	headers.Set(HeaderTimestamp, timestamp)
	headers.Set(HeaderSignature, signService(secrets[0], timestamp, body))
	if len(secrets) > 1 {
		previous := make([]string, len(secrets)-1)
		for i, secret := range secrets[1:] {
			previous[i] = signService(secret, timestamp, body)
		}
		headers.Set(HeaderPreviousSignature, strings.Join(previous, " "))
	}
	headers.Set(HeaderStandardID, id)
	headers.Set(HeaderStandardTimestamp, timestamp)
	headers.Set(HeaderStandardSignature, strings.Join(standard, " "))
	return headers, nil
}

// signService is contract 6.2: a plain SHA-256 with the secret as shown to its owner.
func signService(secret, timestamp string, body []byte) string {
	digest := sha256.New()
	digest.Write([]byte(secret + "." + timestamp + "."))
	digest.Write(body)
	return signatureScheme + hex.EncodeToString(digest.Sum(nil))
}

func signStandard(secret, id string, at time.Time, body []byte) (string, error) {
	key, err := decodeSecret(secret)
	if err != nil {
		return "", err
	}
	signer, err := standardwebhooks.NewWebhookRaw(key)
	if err != nil {
		return "", err
	}
	return signer.Sign(id, at, body)
}

func unixSeconds(at time.Time) string {
	return strconv.FormatInt(at.Unix(), 10)
}
