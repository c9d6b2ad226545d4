package webhooks_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// redelivery is one that is under way: its receiver waits for answer and names the recipient.
type redelivery struct {
	id, order uuid.UUID
	answer    func()
	outcome   chan error
}

// startRedelivery sends the event of a cancelled order again.
func (s *manualHarness) startRedelivery(t *testing.T) redelivery {
	t.Helper()
	answer := make(chan struct{})
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		_, _ = w.Write([]byte("gracias, Rosa Díaz"))
	})
	hook, _ := s.register(t, s.Key, receiver.URL, onlyCreated)
	r := redelivery{id: s.createPending(t, hook), answer: func() { close(answer) }, outcome: make(chan error, 1)}
	row, _ := s.deliveryRow(t, r.id.String())
	r.order = *row.OrderID
	s.CancelWithoutWorker(t, r.order.String())
	_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE deliveries SET status = 'failed', next_attempt_at = NULL, finished_at = created_at WHERE id = '"+r.id.String()+"'")
	require.NoError(t, err)
	s.update(t, r.id, "requested_at", s.now.Now())
	go func() { r.outcome <- s.service.SendQueued(t.Context(), slog.Default()) }()
	receiver.WaitFor(t, 1)
	return r
}

// What a receiver responds to a redelivery that was under way while the order was erased, or while
// a phone was erased from the event, is not kept.
func TestErase_duringARedelivery(t *testing.T) {
	for name, erase := range map[string]func(t *testing.T, s *manualHarness, r redelivery) error{
		"order": func(t *testing.T, s *manualHarness, r redelivery) error {
			_, err := s.App.Orders.Erase(t.Context(), &s.Operator, r.order)
			return err
		},
		"phone": func(t *testing.T, s *manualHarness, r redelivery) error {
			delivery, _ := s.deliveryRow(t, r.id.String())
			delivery.Data = strings.ReplaceAll(delivery.Data, "+51987654321", models.ErasedPhone)
			return eraseDelivery(t, s.App.DB, delivery)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachManual(t, func(t *testing.T, s *manualHarness) {
				sent := s.startRedelivery(t)
				require.NoError(t, erase(t, s, sent))
				sent.answer()
				require.NoError(t, <-sent.outcome)
				delivery, attempts := s.deliveryRow(t, sent.id.String())
				require.Equal(t, models.WebhookDeliveryDelivered, delivery.Status)
				require.Equal(t, http.StatusOK, *attempts[0].StatusCode)
				require.Nil(t, attempts[0].Response)
			})
		})
	}
}

// An event whose data was erased because it was old is sent again: what the receiver responds is
// not kept, and what an earlier release kept goes when the order is erased.
func TestErase_responseToWhatIsErased(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		sent := s.startRedelivery(t)
		sent.answer()
		require.NoError(t, <-sent.outcome)
		delivery, attempts := s.deliveryRow(t, sent.id.String())
		require.Equal(t, "gracias, Rosa Díaz", *attempts[0].Response)
		at := s.now.Now()
		delivery.ErasedAt = &at
		require.NoError(t, eraseDelivery(t, s.App.DB, delivery))
		require.False(t, s.send(t, sent.id, models.CauseRedelivery).failed)
		_, attempts = s.deliveryRow(t, sent.id.String())
		require.Len(t, attempts, 2)
		require.Nil(t, attempts[1].Response)

		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE delivery_attempts SET response = 'gracias, Rosa Díaz' WHERE delivery_id = '"+sent.id.String()+"'")
		require.NoError(t, err)
		_, err = s.App.Orders.Erase(t.Context(), &s.Operator, sent.order)
		require.NoError(t, err)
		_, attempts = s.deliveryRow(t, sent.id.String())
		require.Nil(t, attempts[0].Response)
		require.Nil(t, attempts[1].Response)
	})
}

// An erasure and the outcome of an attempt at the same delivery wait for each other: neither fails.
func TestErase_whileAnOutcomeIsWritten(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		if s.App.DB.Dialect() != db.Postgres {
			return // SQLite has a single writer
		}
		sent := s.startRedelivery(t)
		err := s.App.DB.InTx(t.Context(), func(tx *db.DB) error {
			var delivery models.WebhookDelivery
			if err := tx.QueryForUpdate(t.Context()).Where("id = ?", sent.id).Take(&delivery).Error; err != nil {
				return err
			}
			sent.answer()
			poll.Until(t, func() error { return s.lockIsAwaited(t) })
			return eraseDelivery(t, tx, &delivery)
		})
		require.NoError(t, err)
		require.NoError(t, <-sent.outcome)
		_, attempts := s.deliveryRow(t, sent.id.String())
		require.NotNil(t, attempts[0].FinishedAt)
	})
}

// somebodyWaits is an error while no transaction of the service's database waits for a lock.
func (s *manualHarness) lockIsAwaited(t *testing.T) error {
	var waiting bool
	err := s.App.DB.SQL().QueryRowContext(t.Context(),
		"SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waiting)
	if err == nil && !waiting {
		err = errors.New("nobody waits for a lock")
	}
	return err
}

// eraseDelivery is what an erasure writes of one delivery.
func eraseDelivery(t *testing.T, database *db.DB, delivery *models.WebhookDelivery) error {
	return errors.Join(
		database.Query(t.Context()).Model(delivery).Select("data", "erased_at").UpdateColumns(delivery).Error,
		database.Query(t.Context()).Model(&models.WebhookAttempt{}).Where("delivery_id = ?", delivery.ID).UpdateColumn("response", nil).Error,
	)
}
