package webhooks_test

import (
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

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
		DB: s.App.DB, Secrets: secrets, Clock: now, PhotoURLs: photourl.New(s.Config.FilesURL, s.Config.PhotoURLTTL, keys),
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

// sendOutcome is how an attempt ended: success, a failure, or the time until the next one.
type sendOutcome struct {
	failed bool
	again  time.Duration
}

// send makes the next attempt at a webhook call: the first as the workflow of its order does, later
// ones and requested ones as the workers do.
func (s *manualHarness) send(t *testing.T, id uuid.UUID, cause models.AttemptCause) sendOutcome {
	t.Helper()
	row, before := s.deliveryRow(t, id.String())
	switch {
	case cause == models.CauseRedelivery:
		s.update(t, id, "requested_at", s.now.Now())
		s.sendQueued(t)
	case row.Queued || s.sendDirectly(t, id) == webhooks.OutcomeQueued:
		s.sendQueued(t)
	}
	row, attempts := s.deliveryRow(t, id.String())
	if cause == models.CauseRedelivery {
		last := attempts[len(attempts)-1]
		return sendOutcome{failed: last.FinishedAt != nil && last.Error != nil && row.RequestedAt == nil}
	}
	if row.Status == models.WebhookDeliveryPending {
		return sendOutcome{again: row.NextAttemptAt.Sub(s.now.Now())}
	}
	return sendOutcome{failed: row.Status == models.WebhookDeliveryFailed && len(before) <= len(attempts)}
}

// sendDirectly makes the first attempt at a webhook call, as the workflow of its order does.
func (s *manualHarness) sendDirectly(t *testing.T, id uuid.UUID) webhooks.Outcome {
	t.Helper()
	outcome, err := s.service.CallFirst(t.Context(), id)
	require.NoError(t, err)
	return outcome
}

// enqueue leaves a webhook call to the queue.
func (s *harness) enqueue(t *testing.T, id uuid.UUID) {
	t.Helper()
	s.update(t, id, "queued", true)
}

// update changes a column of a webhook call.
func (s *harness) update(t *testing.T, id uuid.UUID, column string, value any) {
	t.Helper()
	require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.WebhookDelivery{}).Where("id = ?", id).UpdateColumn(column, value).Error)
}

// sendQueued sends the queued deliveries that have a slot.
func (s *manualHarness) sendQueued(t *testing.T) {
	t.Helper()
	require.NoError(t, s.service.SendQueued(t.Context(), slog.Default()))
}
