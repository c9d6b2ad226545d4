package webhooks_test

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/clock"
	"despacho/internal/encryption"
	"despacho/internal/photourl"
	"despacho/internal/safehttp"
	"despacho/internal/signing"
	"despacho/internal/webhooks"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
)

// manualHarness is a service without a worker: the test sends deliveries itself and sets the clock,
// so that delays of hours can be tested.
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

// withNewOperator returns the same service with another operator, without webhooks.
func (s *manualHarness) withNewOperator(t *testing.T) *manualHarness {
	t.Helper()
	return &manualHarness{harness: s.secondOperator(t), now: s.now, service: s.service}
}

// newSendService returns the use cases with a sender, like the worker's.
func (s *harness) newSendService(t *testing.T, now clock.Clock, change func(*safehttp.Options)) *webhooks.Service {
	t.Helper()
	secrets, err := encryption.New(s.Config.SecretKey)
	require.NoError(t, err)
	keys, err := signing.New(s.Config.SecretKey)
	require.NoError(t, err)
	guarded := safehttp.Options{AllowNets: s.Config.WebhookAllowNets, RootCAs: receiverRoots()}
	if change != nil {
		change(&guarded)
	}
	return &webhooks.Service{
		DB: s.App.DB, Secrets: secrets, Clock: now, Temporal: s.Temporal, TaskQueue: s.Config.TaskQueue, PhotoURLs: photourl.New(s.Config.FilesURL, s.Config.PhotoURLTTL, keys),
		Sender: sender.NewSender(sender.Options{HTTP: guarded, Now: now.Now}), Slots: webhooks.NewSlots(),
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

// createPending creates an order and returns the id of its order.created delivery.
func (s *manualHarness) createPending(t *testing.T, webhookID string) uuid.UUID {
	t.Helper()
	before := len(s.logOf(t, webhookID))
	s.CreateOrder(t, s.Key)
	deliveries := s.logOf(t, webhookID)
	require.Len(t, deliveries, before+1)
	s.now.Advance(time.Millisecond) // so that the next one is newer
	return uuid.MustParse(deliveries[before].ID)
}

// sendOutcome is how an attempt ended: success, a final failure, or the time until the next one.
type sendOutcome struct {
	failed bool
	again  time.Duration
}

// send sends a delivery as its workflow does, and if it is queued, as the workers do.
func (s *manualHarness) send(t *testing.T, id uuid.UUID, cause models.AttemptCause) sendOutcome {
	t.Helper()
	outcome, err := s.service.Send(t.Context(), id, cause)
	if err == nil && outcome == workflows.SendQueued {
		s.sendQueued(t)
		row, _ := s.deliveryRow(t, id.String())
		if row.Status == models.WebhookDeliveryPending {
			return sendOutcome{again: row.NextAttemptAt.Sub(s.now.Now())}
		}
		return sendOutcome{failed: row.Status == models.WebhookDeliveryFailed}
	}
	return outcomeOf(t, err)
}

// outcomeOf is what the error of an attempt tells Temporal.
func outcomeOf(t *testing.T, err error) sendOutcome {
	t.Helper()
	if err == nil {
		return sendOutcome{}
	}
	var application *temporal.ApplicationError
	require.True(t, errors.As(err, &application), "%v", err)
	require.Equal(t, application.NonRetryable(), application.NextRetryDelay() == 0, "%v", err)
	return sendOutcome{failed: application.NonRetryable(), again: application.NextRetryDelay()}
}

// sendQueued sends the queued deliveries that have a slot.
func (s *manualHarness) sendQueued(t *testing.T) {
	t.Helper()
	require.NoError(t, s.service.SendQueued(t.Context(), slog.Default()))
}
