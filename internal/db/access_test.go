package db_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
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

// signIn stores a session of a new user and returns the hash of its token.
func signIn(t *testing.T, database *db.DB, operatorID uuid.UUID, storeID *uuid.UUID) []byte {
	t.Helper()
	now := time.Now().UTC()
	role := models.RoleOperator
	if storeID != nil {
		role = models.RoleStore
	}
	user := models.User{
		ID: uuid.New(), OperatorID: operatorID, StoreID: storeID, Email: uuid.NewString() + "@example.com", Name: "Ana", PasswordHash: "-", Role: role,
		Active: true, CreatedAt: now,
	}
	hash := credentials.Hash(uuid.NewString())
	require.NoError(t, database.Insert(t.Context(), &user))
	require.NoError(t, database.Insert(t.Context(), &models.Session{ID: uuid.New(), UserID: user.ID, TokenHash: hash, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}))
	return hash
}

// The order that comes with a session has every field as written. It comes with no session of a
// user who may not see it: one of another operator or store, and nobody sees test orders in the
// panel. The request counts in any case.
func TestSessionByToken_theOrderThatTheUserMaySee(t *testing.T) {
	testenv.SkipIfShort(t)
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, now, w := t.Context(), time.Now().UTC(), dbtest.NewTenant(t, database)
		otherStore := w.Store
		otherStore.ID = uuid.New()
		require.NoError(t, database.Insert(ctx, &otherStore))
		order, test := w.Order, w.Order
		order.ID, order.GuideCode, order.Test = uuid.New(), "ORD-A", false
		test.ID, test.GuideCode, test.Test = uuid.New(), "ORD-B", true
		require.NoError(t, database.Insert(ctx, &order))
		require.NoError(t, database.Insert(ctx, &test))
		operator := signIn(t, database, w.Operator.ID, nil)
		for name, c := range map[string]struct {
			hash    []byte
			orderID uuid.UUID
			seen    bool
		}{
			"the operator":         {operator, order.ID, true},
			"the store":            {signIn(t, database, w.Operator.ID, &w.Store.ID), order.ID, true},
			"another store":        {signIn(t, database, w.Operator.ID, &otherStore.ID), order.ID, false},
			"another operator":     {signIn(t, database, dbtest.NewOrder(t, database).OperatorID, nil), order.ID, false},
			"a test order":         {operator, test.ID, false},
			"no such order":        {operator, uuid.New(), false},
			"a request about none": {operator, uuid.Nil, false},
		} {
			before := requestsOf(t, database, c.hash, now)
			signedIn, found, err := database.SessionByToken(ctx, c.hash, now, c.orderID)
			require.NoError(t, err, name)
			require.Equal(t, before+1, signedIn.UserRequests, name)
			require.Equal(t, c.seen, found != nil, name)
			if found != nil {
				view := models.OrderView{Order: order, LocationName: "Miraflores", RiderName: &w.Rider.Name, RiderPhone: &w.Rider.Phone}
				require.Equal(t, fields.Of(view), fields.Of(*found), name)
			}
		}
		_, found, err := database.SessionByToken(ctx, credentials.Hash("unknown"), now, order.ID)
		require.True(t, db.IsNotFound(err))
		require.Nil(t, found)
	})
}

// requestsOf makes a request of the session and returns how many its user has made in this minute.
func requestsOf(t *testing.T, database *db.DB, hash []byte, now time.Time) int {
	t.Helper()
	signedIn, _, err := database.SessionByToken(t.Context(), hash, now, uuid.Nil)
	require.NoError(t, err)
	return signedIn.UserRequests
}

// A session, its count and the order take one round trip to PostgreSQL.
func TestSessionByToken_oneRoundTrip(t *testing.T) {
	t.Parallel()
	proxied, roundTrips := countingProxy(t, testenv.Postgres(t))
	database := dbtest.Open(t, proxied)
	w := dbtest.NewTenant(t, database)
	hash := signIn(t, database, w.Operator.ID, nil)
	read := func() {
		_, _, err := database.SessionByToken(t.Context(), hash, time.Now().UTC(), w.Order.ID)
		require.NoError(t, err)
	}
	read() // the statements are prepared once for each connection
	before := roundTrips.Load()
	for range 5 {
		read()
	}
	require.EqualValues(t, 5, roundTrips.Load()-before)
}

// issueKeys stores keys of an operator and returns their hashes.
func issueKeys(t *testing.T, database *db.DB, operatorID uuid.UUID, count int, change func(*models.APIKey)) [][]byte {
	t.Helper()
	hashes := make([][]byte, count)
	for i := range hashes {
		key := models.APIKey{ID: uuid.New(), OperatorID: operatorID, Name: "prueba", Scopes: models.JoinSpaced(models.Scopes), CreatedAt: time.Now().UTC()}
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
	testenv.SkipIfShort(t)
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
	testenv.SkipIfShort(t)
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
			order.Substatus, order.NextAttemptOn = w.Order.Substatus, w.Order.NextAttemptOn
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

// countingProxy forwards a client's connection to PostgreSQL and counts the round trips.
func countingProxy(t *testing.T, databaseURL string) (proxied string, roundTrips *atomic.Int64) {
	t.Helper()
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	server := address.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	roundTrips = &atomic.Int64{}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, upstream) }()
			go forward(client, upstream, roundTrips)
		}
	}()
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable")
	address.RawQuery = query.Encode()
	return address.String(), roundTrips
}

// forward copies messages. A Sync or a simple Query makes the server reply. The driver's look at a
// connection that was not used for a second does not count: a busy machine may take that long.
func forward(client, upstream net.Conn, roundTrips *atomic.Int64) {
	defer upstream.Close()
	message := func(header int) (kind byte, body string, open bool) {
		head := make([]byte, header+4)
		if _, err := io.ReadFull(client, head); err != nil {
			return 0, "", false
		}
		content := make([]byte, binary.BigEndian.Uint32(head[header:])-4)
		if _, err := io.ReadFull(client, content); err != nil {
			return 0, "", false
		}
		_, err := upstream.Write(append(head, content...))
		return head[0], string(content), err == nil
	}
	if _, _, open := message(0); !open { // the start-up message has no type
		return
	}
	for {
		kind, body, open := message(1)
		if !open {
			return
		}
		if kind == 'S' || kind == 'Q' && body != "-- ping\x00" {
			roundTrips.Add(1)
		}
	}
}

// Authentication, counting and the order that the request reads together take one round trip to
// PostgreSQL, and the count is right.
func TestAuthenticate_oneRoundTrip(t *testing.T) {
	t.Parallel()
	proxied, roundTrips := countingProxy(t, testenv.Postgres(t))
	database := dbtest.Open(t, proxied)
	order := dbtest.NewOrder(t, database)
	require.NoError(t, database.Insert(context.Background(), order))
	now := time.Now().UTC()
	key := models.APIKey{ID: uuid.New(), OperatorID: order.OperatorID, Name: "prueba", Scopes: models.JoinSpaced(models.Scopes), CreatedAt: now}
	plain, err := key.Issue()
	require.NoError(t, err)
	require.NoError(t, database.Insert(context.Background(), &key))
	authenticate := func() int {
		holder, read, err := database.Authenticate(context.Background(), credentials.Hash(plain), now, order.ID)
		require.NoError(t, err)
		require.Equal(t, order.ID, read.ID)
		return holder.Used
	}
	require.Equal(t, 1, authenticate(), "the statement is prepared once for each connection")
	before := roundTrips.Load()
	for i := range 20 {
		require.Equal(t, i+2, authenticate())
	}
	require.EqualValues(t, 20, roundTrips.Load()-before)
}
