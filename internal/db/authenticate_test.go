package db_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
	"despacho/test/testenv"
)

// issueKeys stores keys of an operator and returns their hashes.
func issueKeys(t *testing.T, database *db.DB, operatorID uuid.UUID, count int, change func(*models.APIKey)) [][]byte {
	t.Helper()
	hashes := make([][]byte, count)
	for i := range hashes {
		key := models.APIKey{ID: uuid.New(), OperatorID: operatorID, Name: "prueba", Scopes: models.JoinScopes(models.Scopes), CreatedAt: time.Now().UTC()}
		plain, err := key.Issue()
		require.NoError(t, err)
		change(&key)
		require.NoError(t, database.Insert(context.Background(), &key))
		hashes[i] = credentials.Hash(plain)
	}
	return hashes
}

// Concurrent requests, in two processes and with several keys, are counted one by one: every number
// is returned exactly once.
func TestAuthenticate_concurrentRequestsCountOnceEach(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		const keys, requests = 5, 40
		processes := []*db.DB{dbtest.Open(t, databaseURL), dbtest.Open(t, databaseURL)}
		hashes := issueKeys(t, processes[0], dbtest.NewOrder(t, processes[0]).OperatorID, keys, func(*models.APIKey) {})
		now := time.Now().UTC().Truncate(time.Minute)
		var mu sync.Mutex
		numbers := make([][]int, keys)
		var all sync.WaitGroup
		for i := range keys * requests {
			key := i % keys
			all.Go(func() {
				// The last requests fall into the next minute, which has its own count.
				at := now.Add(time.Duration(i/(keys*requests-2*keys)) * time.Minute)
				holder, _, err := processes[i%2].Authenticate(context.Background(), hashes[key], at, uuid.Nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				numbers[key] = append(numbers[key], holder.Used)
			})
		}
		all.Wait()
		var expected []int
		for n := range requests - 2 {
			expected = append(expected, n+1)
		}
		expected = append(expected, 1, 2)
		slices.Sort(expected)
		for _, given := range numbers {
			slices.Sort(given)
			require.Equal(t, expected, given)
		}
	})
}

// An unusable key counts nothing, also in a batch with usable ones.
func TestAuthenticate_unusableKeysAreNotCounted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, now := context.Background(), time.Now().UTC()
		operatorID, before := dbtest.NewOrder(t, database).OperatorID, now.Add(-time.Second)
		good := issueKeys(t, database, operatorID, 1, func(*models.APIKey) {})[0]
		expired := issueKeys(t, database, operatorID, 1, func(k *models.APIKey) { k.ExpiresAt = &before })[0]
		revoked := issueKeys(t, database, operatorID, 1, func(k *models.APIKey) { k.RevokedAt = &before })[0]
		var all sync.WaitGroup
		for range 10 {
			for _, hash := range [][]byte{expired, revoked} {
				all.Go(func() {
					holder, _, err := database.Authenticate(ctx, hash, now, uuid.Nil)
					if err != nil || holder.Used != 0 || holder.Key.Usable(now) {
						t.Errorf("%+v, %v", holder, err)
					}
				})
			}
			all.Go(func() {
				if _, _, err := database.Authenticate(ctx, good, now, uuid.Nil); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if _, _, err := database.Authenticate(ctx, credentials.Hash("unknown"), now, uuid.Nil); !db.IsNotFound(err) {
					t.Errorf("an unknown key: %v", err)
				}
			})
		}
		all.Wait()
		holder, _, err := database.Authenticate(ctx, good, now, uuid.Nil)
		require.NoError(t, err)
		require.Equal(t, 11, holder.Used)
	})
}

// The order that comes with a key has every field as written, optional ones set or not. It comes
// with no key that may not see it: one of another operator, store or mode, or one that is not
// usable.
func TestAuthenticate_theOrderThatTheKeyMaySee(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, w := context.Background(), dbtest.NewTenant(t, database)
		written := make([]models.OrderView, 6)
		for i := range written {
			order, f := w.Order, &fields.Filler{Given: i * 1000, Bool: true}
			f.Fill(&order)
			order.OperatorID, order.StoreID, order.BranchID, order.RiderID = w.Operator.ID, &w.Store.ID, w.Branch.ID, &w.Rider.ID
			order.Test = i%3 == 0
			order.LocationID, order.OperativeDay, order.Status, order.CancelledBy = dbtest.District, w.Order.OperativeDay, w.Order.Status, w.Order.CancelledBy
			order.RecipientDocType, order.DocOutcome, order.PointSource = w.Order.RecipientDocType, w.Order.DocOutcome, w.Order.PointSource
			order.DeliveryType, order.PaymentType = w.Order.DeliveryType, w.Order.PaymentType
			order.DeliveryLat, order.DeliveryLng, order.RecipientDocNumber = w.Order.DeliveryLat, w.Order.DeliveryLng, nil
			view := models.OrderView{LocationName: "Miraflores", RiderName: &w.Rider.Name, RiderPhone: &w.Rider.Phone}
			if i%2 == 0 {
				dbtest.ClearOptional(&order)
				order.Status, view.RiderName, view.RiderPhone = models.StatusRegistered, nil, nil
			}
			require.NoError(t, database.Insert(ctx, &order))
			view.Order = order
			written[i] = view
		}
		_, err := database.SQL().ExecContext(ctx, "UPDATE operators SET suspended_at = NULL")
		require.NoError(t, err)
		now := time.Now().UTC()
		key := func(change func(*models.APIKey)) []byte { return issueKeys(t, database, w.Operator.ID, 1, change)[0] }
		live, test := key(func(*models.APIKey) {}), key(func(k *models.APIKey) { k.Test = true })
		ofStore := map[bool][]byte{
			false: key(func(k *models.APIKey) { k.StoreID = &w.Store.ID }),
			true:  key(func(k *models.APIKey) { k.StoreID, k.Test = &w.Store.ID, true }),
		}
		revoked := key(func(k *models.APIKey) { k.RevokedAt = &now })
		stranger := issueKeys(t, database, dbtest.NewOrder(t, database).OperatorID, 1, func(*models.APIKey) {})[0]
		var all sync.WaitGroup
		read := func(hash []byte, id uuid.UUID, check func(*models.OrderView)) {
			all.Go(func() {
				holder, order, err := database.Authenticate(ctx, hash, now, id)
				if assert.NoError(t, err) && assert.NotNil(t, holder) {
					check(order)
				}
			})
		}
		for i := range 60 {
			expected := written[i%len(written)]
			mine, otherMode := live, test
			if expected.Test {
				mine, otherMode = test, live
			}
			read(mine, expected.ID, func(order *models.OrderView) {
				if assert.NotNil(t, order) {
					assert.Equal(t, fields.Of(expected), fields.Of(*order))
				}
			})
			read(ofStore[expected.Test], expected.ID, func(order *models.OrderView) {
				assert.Equal(t, expected.StoreID != nil, order != nil, "a key of the store")
			})
			read(otherMode, expected.ID, func(order *models.OrderView) { assert.Nil(t, order, "the other mode") })
			read(stranger, expected.ID, func(order *models.OrderView) { assert.Nil(t, order, "another operator") })
			read(revoked, expected.ID, func(order *models.OrderView) { assert.Nil(t, order, "a revoked key") })
			read(mine, uuid.New(), func(order *models.OrderView) { assert.Nil(t, order, "an order that does not exist") })
			read(mine, uuid.Nil, func(order *models.OrderView) { assert.Nil(t, order, "a request that reads none") })
			all.Go(func() {
				_, order, err := database.Authenticate(ctx, credentials.Hash("unknown"), now, expected.ID)
				if !db.IsNotFound(err) || order != nil {
					t.Errorf("an unknown key: %v, %v", order, err)
				}
			})
		}
		all.Wait()
	})
}
