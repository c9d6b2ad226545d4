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

	"despacho/db"
	"despacho/internal/credentials"
	"despacho/models"
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
		require.NoError(t, database.InsertAPIKey(context.Background(), &key))
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
		processes := []*db.DB{open(t, databaseURL), open(t, databaseURL)}
		hashes := issueKeys(t, processes[0], fixture(t, processes[0]).OperatorID, keys, func(*models.APIKey) {})
		now := time.Now().UTC().Truncate(time.Minute)
		var mu sync.Mutex
		numbers := make([][]int, keys)
		var all sync.WaitGroup
		for i := range keys * requests {
			key := i % keys
			all.Go(func() {
				// The last requests fall into the next minute, which has its own count.
				at := now.Add(time.Duration(i/(keys*requests-2*keys)) * time.Minute)
				holder, err := processes[i%2].Authenticate(context.Background(), hashes[key], at)
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
	each(t, func(t *testing.T, database *db.DB) {
		ctx, now := context.Background(), time.Now().UTC()
		operatorID, before := fixture(t, database).OperatorID, now.Add(-time.Second)
		good := issueKeys(t, database, operatorID, 1, func(*models.APIKey) {})[0]
		expired := issueKeys(t, database, operatorID, 1, func(k *models.APIKey) { k.ExpiresAt = &before })[0]
		revoked := issueKeys(t, database, operatorID, 1, func(k *models.APIKey) { k.RevokedAt = &before })[0]
		var all sync.WaitGroup
		for range 10 {
			for _, hash := range [][]byte{expired, revoked} {
				all.Go(func() {
					holder, err := database.Authenticate(ctx, hash, now)
					if err != nil || holder.Used != 0 || holder.Key.Usable(now) {
						t.Errorf("%+v, %v", holder, err)
					}
				})
			}
			all.Go(func() {
				if _, err := database.Authenticate(ctx, good, now); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if _, err := database.Authenticate(ctx, credentials.Hash("unknown"), now); !db.IsNotFound(err) {
					t.Errorf("an unknown key: %v", err)
				}
			})
		}
		all.Wait()
		holder, err := database.Authenticate(ctx, good, now)
		require.NoError(t, err)
		require.Equal(t, 11, holder.Used)
	})
}

// An order read in a batch has every field as written, optional ones set or not, and only those in
// the scope are returned.
func TestOrderView_batchedReadsRespectScope(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		ctx, w := context.Background(), newTenant(t, database)
		written := make([]models.OrderView, 6)
		for i := range written {
			order, f := w.order, &fields.Filler{Given: i * 1000, Bool: true}
			f.Fill(&order)
			order.OperatorID, order.StoreID, order.BranchID, order.RiderID = w.operator.ID, &w.store.ID, w.branch.ID, &w.rider.ID
			order.Test = i%3 == 0
			order.LocationID, order.OperativeDay, order.Status, order.CancelledBy = testDistrict, w.order.OperativeDay, w.order.Status, w.order.CancelledBy
			order.RecipientDocType, order.DocOutcome, order.PointSource = w.order.RecipientDocType, w.order.DocOutcome, w.order.PointSource
			order.DeliveryType, order.PaymentType = w.order.DeliveryType, w.order.PaymentType
			order.DeliveryLat, order.DeliveryLng = w.order.DeliveryLat, w.order.DeliveryLng
			view := models.OrderView{LocationName: "Miraflores", RiderName: &w.rider.Name, RiderPhone: &w.rider.Phone}
			if i%2 == 0 {
				clearOptional(&order)
				order.Status, view.RiderName, view.RiderPhone = models.StatusRegistered, nil, nil
			}
			require.NoError(t, database.Insert(ctx, &order))
			view.Order = order
			written[i] = view
		}
		var all sync.WaitGroup
		for i := range 60 {
			expected := written[i%len(written)]
			all.Go(func() {
				view, err := database.OrderView(ctx, db.OrderScope{OperatorID: w.operator.ID, Test: expected.Test}, expected.ID)
				if err != nil {
					t.Error(err)
					return
				}
				assert.Equal(t, fields.Of(expected), fields.Of(view))
			})
			all.Go(func() {
				_, err := database.OrderView(ctx, db.OrderScope{OperatorID: w.operator.ID, StoreID: &w.store.ID, Test: expected.Test}, expected.ID)
				if expected.StoreID == nil {
					assert.ErrorIs(t, err, db.ErrNotFound)
				} else {
					assert.NoError(t, err)
				}
			})
			all.Go(func() {
				if _, err := database.OrderView(ctx, db.OrderScope{OperatorID: uuid.New(), Test: expected.Test}, expected.ID); !db.IsNotFound(err) {
					t.Errorf("another operator: %v", err)
				}
			})
			all.Go(func() {
				if _, err := database.OrderView(ctx, db.OrderScope{OperatorID: w.operator.ID, Test: !expected.Test}, expected.ID); !db.IsNotFound(err) {
					t.Errorf("the other mode: %v", err)
				}
			})
		}
		all.Wait()
	})
}
