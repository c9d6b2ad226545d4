package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
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
