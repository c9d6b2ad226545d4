package webhooks_test

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/clock"
	"despacho/internal/encryption"
	"despacho/internal/safehttp"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/webhooks"
	"despacho/webhooks/sender"
)

// byHand is a service without a worker, whose deliveries the test sends itself, at the time that it
// sets: so waits of hours can be seen.
type manualHarness struct {
	*harness
	now     *clock.Manual
	service *webhooks.Service
}

func eachManual(t *testing.T, run func(t *testing.T, s *manualHarness)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Now())
		s := newHarness(t, apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true}))
		run(t, &manualHarness{harness: s, now: now, service: s.newSendService(t, now, nil)})
	})
}

// fresh is the same service with another operator, who has no webhooks yet.
func (s *manualHarness) withNewOperator(t *testing.T) *manualHarness {
	t.Helper()
	return &manualHarness{harness: s.secondOperator(t), now: s.now, service: s.service}
}

// sending is the use cases with a sender, as the worker has it.
func (s *harness) newSendService(t *testing.T, now clock.Clock, change func(*safehttp.Options)) *webhooks.Service {
	t.Helper()
	secrets, err := encryption.New(s.Config.SecretKey)
	require.NoError(t, err)
	guarded := safehttp.Options{AllowNets: s.Config.WebhookAllowNets, RootCAs: receiverRoots()}
	if change != nil {
		change(&guarded)
	}
	return &webhooks.Service{
		DB: s.App.DB, Secrets: secrets, Clock: now, Temporal: s.Temporal, TaskQueue: s.Config.TaskQueue,
		Sender: sender.NewSender(sender.Options{HTTP: guarded, Now: now.Now}),
	}
}

// receiverRoots trusts the certificate that httptest's HTTPS servers present.
func receiverRoots() *x509.CertPool {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return roots
}

// pending makes an order and returns the id of the delivery of its order.created.
func (s *manualHarness) createPending(t *testing.T, webhookID string) uuid.UUID {
	t.Helper()
	before := len(s.logOf(t, webhookID))
	s.CreateOrder(t, s.Key)
	deliveries := s.logOf(t, webhookID)
	require.Len(t, deliveries, before+1)
	s.now.Advance(time.Millisecond) // the next one is newer
	return uuid.MustParse(deliveries[before].ID)
}

// verdict is what an attempt told Temporal: nothing, that it is over, or when to try again.
type sendOutcome struct {
	failed bool
	again  time.Duration
}

func (s *manualHarness) send(t *testing.T, id uuid.UUID, cause models.AttemptCause) sendOutcome {
	t.Helper()
	err := s.service.Send(t.Context(), id, cause)
	if err == nil {
		return sendOutcome{}
	}
	var application *temporal.ApplicationError
	require.True(t, errors.As(err, &application), "%v", err)
	require.Equal(t, application.NonRetryable(), application.NextRetryDelay() == 0, "%v", err)
	return sendOutcome{failed: application.NonRetryable(), again: application.NextRetryDelay()}
}
