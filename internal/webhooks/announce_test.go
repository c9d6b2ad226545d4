package webhooks_test

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/models"
	"despacho/test/apptest"
)

// settleWith pays a store an amount by a settlement that is issued now.
func settleWith(t *testing.T, s *harness, store models.Store) (settled *cash.Settlement, pay func()) {
	t.Helper()
	service, caller := cash.New(s.App.DB, s.App.Clock()), cash.Caller{Operator: &s.Operator, UserID: uuid.New()}
	require.NoError(t, service.Adjust(t.Context(), caller,
		&cash.Adjustment{Kind: cash.AdjustStore, OwnerID: store.ID, Amount: 1250, Reason: "Acuerdo"}))
	today := s.App.Clock().Now().In(s.Operator.TimeZone()).Format(time.DateOnly)
	settled, err := service.Issue(t.Context(), caller, &store.ID, today, 1250)
	require.NoError(t, err)
	return settled, func() {
		reference := "OP-77"
		_, err := service.Pay(t.Context(), caller, settled.ID, &cash.Payment{From: models.AccountBank, Reference: &reference})
		require.NoError(t, err)
	}
}

var ofSettlements = map[string]any{"events": []models.Event{models.EventSettlementIssued, models.EventSettlementPaid}}

// A settlement is announced to the webhooks of its store and of the operator that name its events,
// signed as any other event, and is in the log without an order.
func TestSettlementEvents_reachWhoNamesThem(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		ofStore, ofOperator, narrowed, silent := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
		webhookID, secret := s.Register(t, s.KeyA, ofStore, ofSettlements)
		s.Register(t, s.Key, ofOperator, ofSettlements)
		s.Register(t, s.Key, narrowed, ofSettlements, map[string]any{"store_id": s.StoreA.ID})
		for key, more := range map[string]map[string]any{
			s.KeyB: ofSettlements, s.KeyA: {"events": models.OrderEvents}, s.NewKey(t, models.APIKey{Test: true, StoreID: &s.StoreA.ID}): ofSettlements,
			s.secondOperator(t).Key: ofSettlements,
		} {
			s.Register(t, key, silent, more)
		}
		s.Register(t, s.Key, silent, ofSettlements, map[string]any{"store_id": s.StoreB.ID})

		settled, pay := settleWith(t, s, s.StoreA)
		event := ofStore.WaitFor(t, 1)[0]
		require.Equal(t, "settlement.issued", event.Event)
		requireSigned(t, event, secret, "")
		expected := map[string]any{"id": settled.ID.String(), "number": 1.0, "status": "issued", "store_id": s.StoreA.ID.String(),
			"period_from": settled.PeriodFrom, "period_to": settled.PeriodTo, "collected": 0.0, "shipping": 0.0, "fees": 0.0, "adjustments": 12.5,
			"net": 12.5, "currency": "PEN", "issued_at": settled.IssuedAt.UTC().Format(time.RFC3339Nano), "paid_at": nil, "reference": nil}
		require.Equal(t, expected, event.Data)
		for _, r := range []*apptest.Receiver{ofOperator, narrowed} {
			require.Equal(t, event.Data, r.WaitFor(t, 1)[0].Data)
		}
		pay()
		paid := ofStore.WaitFor(t, 2)[1]
		require.Equal(t, "settlement.paid", paid.Event)
		require.Equal(t, []any{settled.ID.String(), "paid", "OP-77"}, []any{paid.Data["id"], paid.Data["status"], paid.Data["reference"]})
		require.NotNil(t, paid.Data["paid_at"])
		for _, r := range []*apptest.Receiver{ofOperator, narrowed} {
			require.Equal(t, paid.Data, r.WaitFor(t, 2)[1].Data)
		}
		require.Empty(t, silent.Events())

		log := s.waitUntilFinished(t, webhookID, 2)
		for i, name := range []string{"settlement.issued", "settlement.paid"} {
			require.Equal(t, []string{name, "delivered"}, []string{log[i].Event, log[i].Status})
			require.Nil(t, log[i].OrderID)
			found := s.log(t, s.KeyA, url.Values{"event": {name}}).Deliveries
			require.Len(t, found, 1)
			require.Equal(t, log[i].ID, found[0].ID)
		}
		again := s.post(t, s.KeyA, "/v1/deliveries/"+log[0].ID+"/redeliver", nil, http.StatusOK)
		require.Equal(t, "delivered", again.String("status"))
		require.Equal(t, expected, ofStore.WaitFor(t, 3)[2].Data, "as of the event")
		require.Empty(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events", Key: s.Key}).Data["events"], "the feed is of orders")
		refused := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events?events=settlement.paid", Key: s.Key})
		require.Equal(t, http.StatusBadRequest, refused.Status)
	})
}

// With retries a settlement event comes again after five seconds. Nothing is announced of a
// settlement that is not written.
func TestSettlementEvents_areRetried(t *testing.T) {
	eachManual(t, func(t *testing.T, s *manualHarness) {
		var refused atomic.Bool
		receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if !refused.Swap(true) {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		webhookID, _ := s.Register(t, s.KeyA, receiver, ofSettlements, map[string]any{"retry": true})
		service, caller := cash.New(s.App.DB, s.now), cash.Caller{Operator: &s.Operator, UserID: uuid.New()}
		require.NoError(t, service.Adjust(t.Context(), caller,
			&cash.Adjustment{Kind: cash.AdjustStore, OwnerID: s.StoreA.ID, Amount: 100, Reason: "Acuerdo"}))
		today := s.now.Now().In(s.Operator.TimeZone()).Format(time.DateOnly)
		_, err := service.Issue(t.Context(), caller, &s.StoreA.ID, today, 99)
		require.ErrorIs(t, err, cash.ErrAmountsChanged)
		require.Empty(t, s.logOf(t, webhookID))

		settleWith(t, s.harness, s.StoreB)
		require.Empty(t, s.logOf(t, webhookID), "of another store")
		_, err = service.Issue(t.Context(), caller, &s.StoreA.ID, today, 100)
		require.NoError(t, err)
		s.sendQueued(t)
		require.Equal(t, "pending", s.logOf(t, webhookID)[0].Status)
		s.now.Advance(6 * time.Second)
		s.sendQueued(t)
		delivered := s.logOf(t, webhookID)[0]
		require.Equal(t, "delivered", delivered.Status)
		require.Len(t, delivered.Attempts, 2)
		require.Len(t, receiver.Events(), 2)
	})
}
