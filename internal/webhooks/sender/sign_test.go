package sender_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
)

var signedAt = time.Unix(1767225600, 999_999_999)

const (
	goldenBody = `{"event":"order.delivered","tenant_id":"` + tenantID + `","timestamp":"1767225600","data":` + eventData + `}`
	// Computed with another implementation from currentSecret, previousSecret and goldenBody.
	goldenService          = "sha256=971e82e7ca23fdce0d7b415ff8a94a1b46d2084e0de76bfd24375b68a9d99a86"
	goldenStandard         = "v1,1QmvmNqvVRRm88bFTNoM6g2eNAYH07YxZee+va9cpPs="
	goldenStandardPrevious = "v1,+260zxlG4mYxDCsGkcl7z1nn61cX0ZAFAjMcTZJg2v4="
)

func signed(t *testing.T, at time.Time, body string, secrets ...string) http.Header {
	t.Helper()
	headers, err := sender.Headers("order.delivered", deliveryID, at, []byte(body), secrets...)
	require.NoError(t, err)
	return headers
}

func TestSignaturesMatchTheGoldenVector(t *testing.T) {
	t.Parallel()
	body, err := sender.Body(sender.Request{Event: "order.delivered", TenantID: tenantID, Data: json.RawMessage(eventData)}, signedAt)
	require.NoError(t, err)
	require.Equal(t, goldenBody, string(body))

	require.Equal(t, http.Header{
		"Content-Type":        {"application/json"},
		"X-Service-Event":     {"order.delivered"},
		"X-Service-Timestamp": {"1767225600"},
		"X-Service-Signature": {goldenService},
		"Webhook-Id":          {deliveryID},
		"Webhook-Timestamp":   {"1767225600"},
		"Webhook-Signature":   {goldenStandard},
	}, signed(t, signedAt, goldenBody, currentSecret))
}

func TestBothSecretsSignDuringRotation(t *testing.T) {
	t.Parallel()
	headers := signed(t, signedAt, goldenBody, currentSecret, previousSecret)
	require.Equal(t, goldenService, headers.Get("X-Service-Signature"), "the contract's signature is the current secret's")
	require.Equal(t, goldenStandard+" "+goldenStandardPrevious, headers.Get("webhook-signature"))
}

func TestStandardWebhooksLibraryVerifies(t *testing.T) {
	t.Parallel()
	headers := signed(t, time.Now(), goldenBody, currentSecret, previousSecret)
	for _, secret := range []string{currentSecret, previousSecret} {
		receiver, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		require.NoError(t, receiver.Verify([]byte(goldenBody), headers))
		require.Error(t, receiver.Verify([]byte(goldenBody+" "), headers))
	}
	stranger, err := standardwebhooks.NewWebhook(sender.NewSecret())
	require.NoError(t, err)
	require.Error(t, stranger.Verify([]byte(goldenBody), headers))
}

func TestHeadersRefuseUnusableSecrets(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string][]string{
		"none":            nil,
		"empty":           {""},
		"no prefix":       {strings.TrimPrefix(currentSecret, "whsec_")},
		"not base64":      {"whsec_no es base64"},
		"too short":       {"whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23))},
		"too long":        {"whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65))},
		"second unusable": {currentSecret, "whsec_"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sender.Headers("order.created", deliveryID, signedAt, []byte(goldenBody), secrets...)
			require.ErrorIs(t, err, sender.ErrSecret)
		})
	}
}

func TestNewSecretShowsThirtyTwoRandomBytes(t *testing.T) {
	t.Parallel()
	first, second := sender.NewSecret(), sender.NewSecret()
	require.NotEqual(t, first, second)
	encoded, found := strings.CutPrefix(first, "whsec_")
	require.True(t, found)
	key, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	require.Len(t, key, 32)
}
