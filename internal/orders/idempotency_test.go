package orders_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
)

// storeClient calls the use cases with one API key.
type storeClient struct {
	*apptest.Service
	caller orders.Caller
}

func newStoreClient(t *testing.T, s *apptest.Service) *storeClient {
	t.Helper()
	tenant := s.NewTenant(t)
	holder, _, err := s.App.DB.Authenticate(t.Context(), credentials.Hash(tenant.Key), apptest.FrozenAt, uuid.Nil)
	require.NoError(t, err)
	return &storeClient{Service: s, caller: orders.Caller{Operator: &tenant.Operator, KeyID: &holder.Key.ID}}
}

func orderBody(t *testing.T) *jsonbody.Object {
	t.Helper()
	in, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa","recipient_phone":"987654321","delivery_address":"Av. Larco 345",
		"location_id":"` + apptest.Miraflores.String() + `","product":"Zapatillas"}`))
	require.NoError(t, err)
	return in
}

// create creates under the key "venta-1"; meanwhile runs after the key is claimed and before the
// order is written.
func (s *storeClient) create(ctx context.Context, t *testing.T, meanwhile func() error) (*orders.Created, error) {
	t.Helper()
	return s.App.Orders.CreateMeanwhile(ctx, s.caller, orderBody(t), "venta-1", meanwhile)
}

func noop() error { return nil }

func (s *storeClient) requireOrders(t *testing.T, count int) {
	t.Helper()
	var created int64
	require.NoError(t, s.App.DB.Query(t.Context()).Table("orders").Where("operator_id = ?", s.caller.Operator.ID).Count(&created).Error)
	require.EqualValues(t, count, created)
}

// Contract 4.7: while the first request is in progress, another with its key is refused; afterwards
// it gets the first response.
func TestCreate_sameKeyWhileProcessing(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		first, err := s.create(t.Context(), t, func() error {
			_, err := s.create(t.Context(), t, noop)
			require.ErrorIs(t, err, orders.ErrKeyInProgress)
			return nil
		})
		require.NoError(t, err)
		require.False(t, first.Replayed)
		again, err := s.create(t.Context(), t, noop)
		require.NoError(t, err)
		first.Replayed = true
		require.Equal(t, first, again)
		s.requireOrders(t, 1)
	})
}

// A crashed request holds its key for seconds: longer than the request timeout, and no longer than
// a client can be asked to wait.
func TestCreate_theLeaseIsShort(t *testing.T) {
	require.Equal(t, 15*time.Second, config.DefaultTimeouts().KeyLease())
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s, lease := newStoreClient(t, service), service.Config.Timeouts.KeyLease()
		_, err := s.create(t.Context(), t, func() error {
			claimAt := func(at time.Time) error {
				response, err := orders.ClaimKey(t.Context(), s.App.DB, &models.IdempotencyRecord{
					ScopeID: *s.caller.KeyID, Key: "venta-1", BodyHash: orderBody(t).Hash(), LeaseToken: uuid.New(), LeaseUntil: at.Add(time.Minute),
					CreatedAt: at, ExpiresAt: at.Add(time.Hour),
				}, at)
				require.Nil(t, response)
				return err
			}
			require.ErrorIs(t, claimAt(apptest.FrozenAt.Add(lease-time.Microsecond)), orders.ErrKeyInProgress)
			require.NoError(t, claimAt(apptest.FrozenAt.Add(lease)))
			return nil
		})
		require.ErrorIs(t, err, orders.ErrKeyInProgress, "the other one has the key now")
		s.requireOrders(t, 0)
	})
}

// A key that a request claimed by a clock that was ahead, and crashed, is free when the clock is
// right.
func TestCreate_leaseOfAClockThatWasAhead(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s, lease := newStoreClient(t, service), service.Config.Timeouts.KeyLease()
		claimAt := func(at time.Time) error {
			response, err := orders.ClaimKey(t.Context(), s.App.DB, &models.IdempotencyRecord{
				ScopeID: *s.caller.KeyID, Key: "venta-1", BodyHash: orderBody(t).Hash(), LeaseToken: uuid.New(), LeaseUntil: at.Add(lease),
				CreatedAt: at, ExpiresAt: at.Add(time.Hour),
			}, at)
			require.Nil(t, response)
			return err
		}
		require.NoError(t, claimAt(apptest.FrozenAt.AddDate(1, 0, 0)))
		require.NoError(t, claimAt(apptest.FrozenAt))
		require.ErrorIs(t, claimAt(apptest.FrozenAt.Add(-30*time.Second)), orders.ErrKeyInProgress, "clocks differ by seconds")
	})
}

// The response is written in the order's transaction: a request that lost its lease creates no
// order.
func TestCreate_lostLeaseLeavesNoOrder(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		_, err := s.create(t.Context(), t, func() error {
			later := apptest.FrozenAt.Add(2 * service.Config.Timeouts.KeyLease())
			response, err := orders.ClaimKey(t.Context(), s.App.DB, &models.IdempotencyRecord{
				ScopeID: *s.caller.KeyID, Key: "venta-1", BodyHash: orderBody(t).Hash(), LeaseToken: uuid.New(), LeaseUntil: later.Add(time.Minute),
				CreatedAt: later, ExpiresAt: later.Add(time.Hour),
			}, later)
			require.Nil(t, response)
			return err
		})
		require.ErrorIs(t, err, orders.ErrKeyInProgress)
		s.requireOrders(t, 0)
		_, err = s.create(t.Context(), t, noop)
		require.ErrorIs(t, err, orders.ErrKeyInProgress, "the other one still holds the key")
	})
}

// Contract 4.7: after 24 hours a key is new. An erasure of the order that it made before answers no
// request that uses it now.
func TestCreate_erasureOfAnEarlierOrderOfTheKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		first, err := s.create(t.Context(), t, noop)
		require.NoError(t, err)
		s.CancelWithoutWorker(t, first.Order.ID.String())
		_, err = s.App.DB.SQL().ExecContext(t.Context(), "UPDATE idempotency_records SET expires_at = created_at WHERE scope_id = '"+s.caller.KeyID.String()+"'")
		require.NoError(t, err)

		second, err := s.create(t.Context(), t, func() error {
			_, err := s.App.Orders.Erase(t.Context(), s.caller.Operator, first.Order.ID)
			return err
		})
		require.NoError(t, err)
		require.False(t, second.Replayed)
		require.NotEqual(t, first.Order.ID, second.Order.ID)
		s.requireOrders(t, 2)
	})
}

// A request that failed ends although the database does not release its key: the lease runs out.
func TestCreate_keyThatCannotBeReleased(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		if s.App.DB.Dialect() != db.Postgres {
			return // SQLite's driver bounds how long a statement waits
		}
		refused := errors.New("refused")
		holder, err := s.App.DB.SQL().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, holder.Rollback()) }()
		_, err = s.create(t.Context(), t, func() error {
			_, err := holder.ExecContext(t.Context(), "SELECT 1 FROM idempotency_records WHERE scope_id = '"+s.caller.KeyID.String()+"' FOR UPDATE")
			return errors.Join(err, refused)
		})
		require.ErrorIs(t, err, refused)
	})
}

// Only successes are stored, also on internal errors or when the client has disconnected.
func TestCreate_failureFreesTheKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		broken := errors.New("broken")
		_, err := s.create(t.Context(), t, func() error { return broken })
		require.ErrorIs(t, err, broken)
		ctx, hangUp := context.WithCancel(t.Context())
		_, err = s.create(ctx, t, func() error { hangUp(); return nil })
		require.ErrorIs(t, err, context.Canceled)
		s.requireOrders(t, 0)

		created, err := s.create(t.Context(), t, noop)
		require.NoError(t, err)
		require.False(t, created.Replayed)
		s.requireOrders(t, 1)
	})
}

// Panel users of the same store or operator share their keys; a store, its operator and API keys
// have separate scopes.
func TestCreate_keysBelongToWhoeverCanSeeTheOrders(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, service *apptest.Service) {
		s := newStoreClient(t, service)
		storeID := uuid.New()
		require.NoError(t, s.App.DB.Insert(t.Context(), &models.Store{ID: storeID, OperatorID: s.caller.Operator.ID, Name: "Tienda", Active: true, CreatedAt: apptest.FrozenAt}))
		operator := orders.Caller{Operator: s.caller.Operator}
		bound := orders.Caller{Operator: s.caller.Operator, StoreID: &storeID}
		seen := map[uuid.UUID]bool{}
		for _, caller := range []orders.Caller{s.caller, operator, bound} {
			s.caller = caller
			first, err := s.create(t.Context(), t, noop)
			require.NoError(t, err)
			require.False(t, first.Replayed)
			again, err := s.create(t.Context(), t, noop)
			require.NoError(t, err)
			require.True(t, again.Replayed)
			require.Equal(t, first.JSON, again.JSON)
			require.False(t, seen[first.Order.ID], "another caller got this order")
			seen[first.Order.ID] = true

			other, err := jsonbody.Parse([]byte(`{}`))
			require.NoError(t, err)
			previous, err := s.App.Orders.PreviousCreations(t.Context(), caller, []string{"venta-1", "venta-2"})
			require.NoError(t, err)
			require.Len(t, previous, 1)
			require.Equal(t, again, previous["venta-1"].Created)
			require.True(t, previous["venta-1"].SameBody(orderBody(t)))
			require.False(t, previous["venta-1"].SameBody(other))
		}
	})
}
