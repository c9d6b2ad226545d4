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

func TestVerify(t *testing.T) {
	t.Parallel()
	whole := time.Unix(signedAt.Unix(), 0)
	set := func(name, value string) func(http.Header) {
		return func(headers http.Header) { headers.Set(name, value) }
	}
	onlyContract := func(headers http.Header) {
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			headers.Del(name)
		}
	}
	untouched := func(http.Header) {}

	for name, test := range map[string]struct {
		change  func(http.Header)
		body    string
		now     time.Time
		secrets []string
		want    error
	}{
		"as sent":                     {untouched, goldenBody, whole, []string{currentSecret}, nil},
		"second secret tried":         {untouched, goldenBody, whole, []string{previousSecret, currentSecret}, nil},
		"contract's headers alone":    {onlyContract, goldenBody, whole, []string{currentSecret}, nil},
		"five minutes late":           {untouched, goldenBody, whole.Add(5 * time.Minute), []string{currentSecret}, nil},
		"five minutes early":          {untouched, goldenBody, whole.Add(-5 * time.Minute), []string{currentSecret}, nil},
		"older than five minutes":     {untouched, goldenBody, whole.Add(5*time.Minute + time.Second), []string{currentSecret}, sender.ErrTimestamp},
		"from the future":             {untouched, goldenBody, whole.Add(-5*time.Minute - time.Second), []string{currentSecret}, sender.ErrTimestamp},
		"no timestamp":                {set("X-Service-Timestamp", ""), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"timestamp not a number":      {set("X-Service-Timestamp", "ayer"), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"timestamp out of range":      {set("X-Service-Timestamp", "-9223372036854775808"), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"another timestamp":           {set("X-Service-Timestamp", "1767225601"), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"another body":                {untouched, goldenBody + "\n", whole, []string{currentSecret}, sender.ErrSignature},
		"another secret":              {untouched, goldenBody, whole, []string{previousSecret}, sender.ErrSignature},
		"no secret":                   {untouched, goldenBody, whole, nil, sender.ErrSignature},
		"no signature":                {set("X-Service-Signature", ""), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"upper case signature":        {set("X-Service-Signature", strings.ToUpper(goldenService)), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"standard signature wrong":    {set("webhook-signature", goldenStandardPrevious), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"standard id wrong":           {set("webhook-id", "msg_otro"), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
		"standard timestamp too old":  {set("webhook-timestamp", "1"), goldenBody, whole, []string{currentSecret}, sender.ErrTimestamp},
		"standard timestamp replaced": {set("webhook-timestamp", "1767225601"), goldenBody, whole, []string{currentSecret}, sender.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			headers := signed(t, signedAt, goldenBody, currentSecret)
			test.change(headers)
			require.ErrorIs(t, sender.Verify(headers, []byte(test.body), test.now, test.secrets...), test.want)
		})
	}
}
