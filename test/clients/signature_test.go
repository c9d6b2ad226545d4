package clients

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
)

// received is a request as a receiver gets it.
type received struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	// Genuine: X-Service-Signature holds. Standard: the signature of Standard Webhooks holds.
	Genuine  bool `json:"-"`
	Standard bool `json:"-"`
}

const orderData = `{"id":"019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68","recipient_name":"Rosa Díaz <ñ> \u00e1","amount_to_collect":89.9}`

// signedAt is a request that the service itself would send at that time.
func signedAt(t *testing.T, name, secret string, at time.Time, genuine bool) received {
	t.Helper()
	body, err := sender.Body(sender.Request{Event: "order.delivered", TenantID: "0f6b1c9e-5d2a-4b77-9c38-a1e4d7f02b65", Data: json.RawMessage(orderData)}, at)
	require.NoError(t, err)
	headers, err := sender.Headers("order.delivered", "019a8f55-20aa-7d11-b0a4-8c9b6d2e7f10", at, body, secret)
	require.NoError(t, err)
	request := received{Name: name, Secret: secret, Headers: map[string]string{}, Body: string(body), Genuine: genuine, Standard: genuine}
	for header := range headers {
		request.Headers[header] = headers.Get(header)
	}
	return request
}

// signedRequests may be up to three minutes older when they are checked than when they were made.
func signedRequests(t *testing.T) []received {
	t.Helper()
	secret, now := sender.NewSecret(), time.Now()
	changed := func(name string, standard bool, change func(*received)) received {
		request := signedAt(t, name, secret, now, false)
		request.Standard = standard
		change(&request)
		return request
	}
	onlyStandard := func(name string, change func(*received)) received {
		request := changed(name, false, change)
		request.Genuine = true
		return request
	}
	return []received{
		signedAt(t, "a genuine request", secret, now, true),
		signedAt(t, "two minutes old", secret, now.Add(-2*time.Minute), true),
		signedAt(t, "from a clock that is four minutes fast", secret, now.Add(4*time.Minute), true),
		signedAt(t, "six minutes old", secret, now.Add(-6*time.Minute), false),
		signedAt(t, "eight minutes ahead", secret, now.Add(8*time.Minute), false),
		changed("a tampered body", false, func(r *received) { r.Body = strings.Replace(r.Body, "89.9", "9.9", 1) }),
		changed("a body with a space more", false, func(r *received) { r.Body += " " }),
		changed("another secret", false, func(r *received) { r.Secret = sender.NewSecret() }),
		changed("no secret", false, func(r *received) { r.Secret = "" }),
		changed("the secret without its prefix", true, func(r *received) { r.Secret = strings.TrimPrefix(r.Secret, "whsec_") }),
		changed("another timestamp", true, func(r *received) { r.Headers["X-Service-Timestamp"] += "0" }),
		changed("a timestamp that is no number", true, func(r *received) { r.Headers["X-Service-Timestamp"] = "now" }),
		changed("an endless timestamp", true, func(r *received) { r.Headers["X-Service-Timestamp"] = strings.Repeat("9", 5000) }),
		changed("no timestamp", true, func(r *received) { delete(r.Headers, "X-Service-Timestamp") }),
		changed("no signature", true, func(r *received) { delete(r.Headers, "X-Service-Signature") }),
		changed("a signature cut short", true, func(r *received) { r.Headers["X-Service-Signature"] = r.Headers["X-Service-Signature"][:40] }),
		changed("a signature that is not ASCII", true, func(r *received) { r.Headers["X-Service-Signature"] = "sha256=ñ" }),
		onlyStandard("another id", func(r *received) { r.Headers["Webhook-Id"] += "0" }),
		onlyStandard("another standard timestamp", func(r *received) { r.Headers["Webhook-Timestamp"] += "0" }),
		onlyStandard("no standard timestamp", func(r *received) { delete(r.Headers, "Webhook-Timestamp") }),
		onlyStandard("no standard signature", func(r *received) { delete(r.Headers, "Webhook-Signature") }),
		onlyStandard("a standard signature cut short", func(r *received) { r.Headers["Webhook-Signature"] = r.Headers["Webhook-Signature"][:10] }),
		onlyStandard("another version", func(r *received) { r.Headers["Webhook-Signature"] = "v2" + r.Headers["Webhook-Signature"][2:] }),
	}
}

// Each client accepts what the service signs, in both schemes, and refuses everything else.
func TestSignatures(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, r *runner) {
		for _, request := range signedRequests(t) {
			header := http.Header{}
			for name, value := range request.Headers {
				header.Set(name, value)
			}
			require.Equal(t, request.Genuine, r.verifies(t, "service", header, []byte(request.Body), request.Secret), request.Name)
			require.Equal(t, request.Standard, r.verifies(t, "standard", header, []byte(request.Body), request.Secret), request.Name)
		}
	})
}

// A secret that the receiver was not given, or not whole, opens no door: whoever guesses that can
// sign with what a language makes of it.
func TestSignatures_withoutASecret(t *testing.T) {
	t.Parallel()
	now := time.Now()
	eachLanguage(t, func(t *testing.T, r *runner) {
		for _, word := range []string{"null", "undefined", "None", "nil", ""} {
			request := signedAt(t, "", sender.NewSecret(), now, false)
			request.Headers["X-Service-Signature"] = serviceSignature(word, request)
			request.Headers["Webhook-Signature"] = standardSignature(nil, request)
			for _, scheme := range []string{"service", "standard"} {
				for _, secret := range []any{nil, "", "whsec_"} {
					o := r.call(t, "http://unused.example", "", "verify", map[string]any{"scheme": scheme, "headers": request.Headers, "body": request.Body, "secrets": []any{secret}})
					require.NotEqual(t, true, o.Result, "%s: %v is signed with %q", scheme, secret, word)
				}
			}
		}
	})
}

func serviceSignature(secret string, r received) string {
	sum := sha256.Sum256([]byte(secret + "." + r.Headers["X-Service-Timestamp"] + "." + r.Body))
	return "sha256=" + hex.EncodeToString(sum[:])
}

func standardSignature(key []byte, r received) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.Headers["Webhook-Id"] + "." + r.Headers["Webhook-Timestamp"] + "." + r.Body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Some servers for Python give the bytes of a header that are not UTF-8 as lone surrogates. They
// are refused as every other wrong signature is, without an error.
func TestSignatures_pythonWithoutUTF8(t *testing.T) {
	t.Parallel()
	r := languages["python"](t)
	for header, scheme := range map[string]string{"X-Service-Signature": "service", "Webhook-Signature": "standard", "Webhook-Id": "standard"} {
		request := signedAt(t, "", sender.NewSecret(), time.Now(), false)
		headers := map[string]any{}
		for name, value := range request.Headers {
			headers[name] = value
		}
		headers[header] = json.RawMessage(`"\udcff"`)
		o := r.call(t, "http://unused.example", "", "verify", map[string]any{"scheme": scheme, "headers": headers, "body": request.Body, "secrets": []string{request.Secret}})
		require.Equal(t, false, o.Result, "%s: %s", header, o.Other)
	}
}

// The cases themselves are right: the service's own check says the same of each.
func TestSignatures_casesAgreeWithTheServicesOwnCheck(t *testing.T) {
	t.Parallel()
	for _, request := range signedRequests(t) {
		header := http.Header{}
		for _, name := range []string{sender.HeaderTimestamp, sender.HeaderSignature} {
			header.Set(name, request.Headers[name])
		}
		err := sender.Verify(header, []byte(request.Body), time.Now(), request.Secret)
		require.Equal(t, request.Genuine, err == nil, "%s: %v", request.Name, err)
	}
}
