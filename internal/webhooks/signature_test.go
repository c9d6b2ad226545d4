package webhooks_test

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// contractReceiver is a receiver written only from section 6 of the contract: it answers 200 to
// requests that it verifies.
type contractReceiver struct {
	mu     sync.Mutex
	secret string
	events []string
}

func (r *contractReceiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	raw, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	timestamp := request.Header.Get("X-Service-Timestamp")
	digest := sha256.Sum256([]byte(r.secret + "." + timestamp + "." + string(raw)))
	expected := "sha256=" + hex.EncodeToString(digest[:])
	if subtle.ConstantTimeCompare([]byte(expected), []byte(request.Header.Get("X-Service-Signature"))) != 1 {
		http.Error(w, "wrong signature", http.StatusUnauthorized)
		return
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		http.Error(w, "wrong timestamp", http.StatusUnauthorized)
		return
	}
	var body struct {
		Event     string `json:"event"`
		TenantID  string `json:"tenant_id"`
		Timestamp string `json:"timestamp"`
		Data      struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &body) != nil || body.Event != request.Header.Get("X-Service-Event") || body.Timestamp != timestamp || body.Data.ID == "" {
		http.Error(w, "not an event", http.StatusBadRequest)
		return
	}
	r.events = append(r.events, body.Event)
}

// setSecret stores the secret returned by the registration.
func (r *contractReceiver) setSecret(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// trusted lists the events that it verified.
func (r *contractReceiver) trusted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// A receiver written from the contract, and one that uses a Standard Webhooks library, verify every
// event of an order's lifecycle.
func TestSignature_everyEventOfALifecycle(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		contract := &contractReceiver{}
		server := httptest.NewTLSServer(contract)
		t.Cleanup(server.Close)
		contractID, contractSecret := s.register(t, s.Key, server.URL, nil)
		contract.setSecret(contractSecret)
		standard := apptest.NewReceiver(t, nil)
		standardID, standardSecret := s.Register(t, s.KeyA, standard)
		require.NotEqual(t, contractSecret, standardSecret)

		id := s.CreateOrder(t, s.KeyA, map[string]any{"recipient_name": "Ñusta <Perú> & Cía. ☕"})
		s.move(t, id, "receive", nil)
		s.assign(t, id)
		s.deliverWithPhoto(t, id, nil)
		s.move(t, s.CreateOrder(t, s.KeyA), "cancel", nil)

		for _, webhookID := range []string{contractID, standardID} {
			for _, d := range s.waitUntilFinished(t, webhookID, 5) {
				require.Equal(t, "delivered", d.Status, "%s: %+v", d.Event, d.Attempts)
			}
		}
		require.ElementsMatch(t, []string{"order.created", "order.assigned", "order.delivered", "order.created", "order.cancelled"}, contract.trusted())
		for _, event := range standard.WaitFor(t, 5) {
			require.NoError(t, standardVerifier(t, standardSecret).Verify(event.Body, event.Header))
			require.Empty(t, event.Header.Get("X-Service-Signature-Previous"), "no secret is being replaced")
		}
	})
}

func standardVerifier(t *testing.T, secret string) *standardwebhooks.Webhook {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	return verifier
}

// signedWith reports whether a contract signature was made with a secret.
func signedWith(secret, signature string, event apptest.Received) bool {
	digest := sha256.Sum256([]byte(secret + "." + event.Header.Get("X-Service-Timestamp") + "." + string(event.Body)))
	return signature == "sha256="+hex.EncodeToString(digest[:])
}

// requireSigned checks that an event is signed with the current secret and, during a rotation, the
// previous one, and with no others.
func requireSigned(t *testing.T, event apptest.Received, current, previous string, over ...string) {
	t.Helper()
	if previous == "" {
		require.NotContains(t, event.Header, http.CanonicalHeaderKey("X-Service-Signature-Previous"))
	}
	requireSignedWith(t, event, append([]string{current}, strings.Fields(previous)...), over...)
}

// requireSignedWith checks that an event is signed with the given secrets, the current one first,
// and with no others.
func requireSignedWith(t *testing.T, event apptest.Received, secrets []string, over ...string) {
	t.Helper()
	require.True(t, signedWith(secrets[0], event.Header.Get("X-Service-Signature"), event))
	previous := strings.Fields(event.Header.Get("X-Service-Signature-Previous"))
	require.Len(t, previous, len(secrets)-1)
	for i, signature := range previous {
		require.True(t, signedWith(secrets[i+1], signature, event), "the previous secret %d", i)
	}
	require.Len(t, strings.Fields(event.Header.Get("webhook-signature")), len(secrets))
	for _, secret := range secrets {
		require.NoError(t, standardVerifier(t, secret).VerifyIgnoringTimestamp(event.Body, event.Header))
	}
	for _, secret := range over {
		require.Error(t, standardVerifier(t, secret).VerifyIgnoringTimestamp(event.Body, event.Header))
	}
}

// rotate rotates a webhook's secret.
func (s *harness) rotate(t *testing.T, webhookID string) (secret string) {
	t.Helper()
	answer := s.post(t, s.Key, "/v1/webhooks/"+webhookID+"/rotate", nil, http.StatusOK)
	require.Equal(t, webhookID, answer.String("id"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.NotEmpty(t, answer.Message)
	return answer.String("secret")
}

// After a rotation both secrets sign for 24 hours, then only the new one.
func TestRotation_bothSecretsForADay(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Now())
		s := newHarness(t, apptest.Boot(t, databaseURL, apptest.Options{Clock: now}))
		receiver := apptest.NewReceiver(t, nil)
		webhookID, first := s.Register(t, s.Key, receiver, onlyCreated)
		arrived := 0
		next := func() apptest.Received {
			s.CreateOrder(t, s.Key)
			arrived++
			return receiver.WaitFor(t, arrived)[arrived-1]
		}

		requireSigned(t, next(), first, "")
		second := s.rotate(t, webhookID)
		require.NotEqual(t, first, second)
		requireSigned(t, next(), second, first)
		now.Advance(24*time.Hour - time.Second)
		requireSigned(t, next(), second, first)
		now.Advance(time.Second)
		requireSigned(t, next(), second, "", first)

		third := s.rotate(t, webhookID)
		now.Advance(time.Hour)
		fourth := s.rotate(t, webhookID)
		requireSignedWith(t, next(), []string{fourth, third, second}, first)
		now.Advance(23*time.Hour - time.Second)
		requireSignedWith(t, next(), []string{fourth, third, second})
		now.Advance(time.Second)
		requireSigned(t, next(), fourth, third, second)
		now.Advance(time.Hour)
		requireSigned(t, next(), fourth, "", third)
		require.Equal(t, []string{webhookID}, s.activeWebhooks(t))
	})
}

// Concurrent rotations each return a secret that signs.
func TestRotation_atOnce(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		for range 5 {
			receiver := apptest.NewReceiver(t, nil)
			webhookID, first := s.Register(t, s.Key, receiver, onlyCreated)
			var secrets [2]string
			var rotations sync.WaitGroup
			for i := range secrets {
				rotations.Go(func() {
					answer, err := s.Try(apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks/" + webhookID + "/rotate", Key: s.Key})
					if err == nil && answer.Status == http.StatusOK {
						secrets[i] = answer.String("secret")
					}
				})
			}
			rotations.Wait()
			s.CreateOrder(t, s.Key)
			event := receiver.WaitFor(t, 1)[0]
			// The one that rotated last has the current secret.
			if signedWith(secrets[0], event.Header.Get("X-Service-Signature"), event) {
				secrets[0], secrets[1] = secrets[1], secrets[0]
			}
			requireSignedWith(t, event, []string{secrets[1], secrets[0], first})
		}
	})
}

// The stored secret is encrypted.
func TestSecret_isEncryptedAtRest(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		webhookID, first := s.register(t, s.Key, "https://tienda.example/despacho", nil)
		second := s.rotate(t, webhookID)
		row := s.webhookRow(t, webhookID)
		for _, secret := range []string{first, second} {
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
			require.NoError(t, err)
			require.Len(t, key, 32)
			for _, stored := range [][]byte{row.Secret, row.PreviousSecret} {
				require.NotContains(t, string(stored), secret)
				require.NotContains(t, string(stored), string(key))
			}
		}
	})
}

// Rotating another owner's webhook returns not found.
func TestRotation_anothersIsNotFound(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		webhookID, _ := s.register(t, s.KeyA, "https://tienda.example/despacho", nil)
		for _, key := range []string{s.KeyB, s.secondOperator(t).Key} {
			s.post(t, key, "/v1/webhooks/"+webhookID+"/rotate", nil, http.StatusNotFound)
		}
		require.Nil(t, s.webhookRow(t, webhookID).PreviousSecretUntil)
	})
}
