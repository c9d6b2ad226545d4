package orders

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/photourl"
	"despacho/internal/signing"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
)

// onRows is the service over a tenant's rows, whose order was received a moment ago.
func onRows(t *testing.T, database *db.DB) (*Service, *dbtest.Tenant) {
	t.Helper()
	w := dbtest.NewTenant(t, database)
	secrets, err := encryption.New("a secret key of thirty-two bytes")
	require.NoError(t, err)
	w.Order.RecipientDocEncrypted = secrets.Seal([]byte("12345678"), DocumentContext(w.Order.ID))
	require.NoError(t, database.Query(t.Context()).Save(&w.Order).Error)
	keys, err := signing.New("a secret key of thirty-two bytes")
	require.NoError(t, err)
	options := Options{Secrets: secrets, PhotoURLs: photourl.New("https://files.example", 0, keys)}
	return New(database, nil, nil, clock.NewManual(*w.Order.ReceivedAt), nil, options), w
}

// Whatever a caller asks for, nothing of another operator is read, and neither live orders in test
// mode nor the other way round.
func TestReads_nothingOutsideTheCallersScope(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		s, w := onRows(t, database)
		open := w.Order
		open.ID, open.GuideCode, open.Status, open.CancelledBy, open.DeliveryLat, open.DeliveryLng = uuid.New(), "2222222222", models.StatusReceived, nil, nil, nil
		open.RecipientDocEncrypted = nil
		require.NoError(t, database.Insert(t.Context(), &open))
		another := w.Operator
		another.ID = uuid.New()
		for name, find := range map[string]func(ctx context.Context, caller Caller) (found int64, err error){
			"Find": func(ctx context.Context, caller Caller) (int64, error) {
				_, err := s.Find(ctx, caller, w.Order.ID)
				return 1, err
			},
			"Details": func(ctx context.Context, caller Caller) (int64, error) {
				found, err := s.Details(ctx, caller, []uuid.UUID{w.Order.ID})
				return int64(len(found)), err
			},
			"List of a rider": func(ctx context.Context, caller Caller) (int64, error) {
				page, err := s.List(ctx, caller, Query{Page: 1, Limit: 10, RiderID: &w.Rider.ID})
				return page.Total + int64(len(page.Orders)), err
			},
			"readPage": func(ctx context.Context, caller Caller) (int64, error) {
				rows, err := s.readPage(ctx, caller, orderFilter{Page: 1, Limit: 10}, 10)
				return int64(len(rows)), err
			},
			"Each": func(ctx context.Context, caller Caller) (found int64, err error) {
				err = s.Each(ctx, caller, Query{}, func(*View) error { found++; return nil })
				return found, err
			},
			"Collected": func(ctx context.Context, caller Caller) (int64, error) {
				amount, err := s.Collected(ctx, caller, Query{})
				return int64(amount), err
			},
			"CountWithoutPoint": func(ctx context.Context, caller Caller) (int64, error) {
				return s.CountWithoutPoint(ctx, caller, Query{})
			},
			"Districts": func(ctx context.Context, caller Caller) (int64, error) {
				found, err := s.Districts(ctx, caller)
				return int64(len(found)), err
			},
			"Destinations": func(ctx context.Context, caller Caller) (int64, error) {
				found, err := s.Destinations(ctx, caller, Query{Status: w.Order.Status})
				return int64(len(found)), err
			},
			"ReceivedToday": func(ctx context.Context, caller Caller) (int64, error) {
				found, err := s.ReceivedToday(ctx, caller, 10)
				return found.Total + int64(len(found.Latest)), err
			},
		} {
			count := func(caller Caller) int64 {
				found, err := find(t.Context(), caller)
				if err == ErrOrderNotFound {
					return 0
				}
				require.NoError(t, err, name)
				return found
			}
			require.Zero(t, count(Caller{Operator: &w.Operator, Test: !w.Order.Test}), "%s finds what is of the other mode", name)
			require.Zero(t, count(Caller{Operator: &another, Test: w.Order.Test}), "%s finds what is another operator's", name)
			require.NotZero(t, count(Caller{Operator: &w.Operator, Test: w.Order.Test}), "%s finds nothing in its own scope either", name)
		}
	})
}

// What is read of an order for its page and for the public has every field.
func TestReads_everyFieldComesBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		s, w := onRows(t, database)
		details, err := s.details(t.Context(), Caller{Operator: &w.Operator, Test: w.Order.Test}, []uuid.UUID{w.Order.ID})
		require.NoError(t, err)
		dbtest.RequireRead(t, models.OrderDetail{
			OrderView: models.OrderView{Order: w.Order, LocationName: "Miraflores", RiderName: &w.Rider.Name, RiderPhone: &w.Rider.Phone},
			StoreName: &w.Store.Name, BranchName: w.Branch.Name,
		}, *details[0])
		move := models.TimelineEntry{}
		(&fields.Filler{Bool: true}).Fill(&move)
		move.OrderID, move.Status, move.RiderID, move.UserID, move.KeyID = w.Order.ID, w.Order.Status, &w.Rider.ID, &w.User.ID, &w.Key.ID
		require.NoError(t, database.Insert(t.Context(), &move))
		timeline, err := readTimeline(t.Context(), database, w.Order.ID)
		require.NoError(t, err)
		dbtest.RequireRead(t, models.TimelineView{
			TimelineEntry: move, UserName: &w.User.Name, KeyName: &w.Key.Name, RiderName: &w.Rider.Name,
		}, timeline[0])
		tracked, err := s.Track(t.Context(), w.Order.GuideCode)
		require.NoError(t, err)
		require.Len(t, tracked.Steps, 1)
		dbtest.RequireRead(t, Tracked{
			ID: w.Order.ID, GuideCode: w.Order.GuideCode, Status: w.Order.Status, Product: w.Order.Product,
			OperatorName: w.Operator.Name, LogoURL: w.Operator.LogoURL, LogoPhoto: w.Operator.LogoPhoto, Timezone: w.Operator.Timezone,
			StoreName: &w.Store.Name, StorePhone: w.Store.ContactPhone, StoreWhatsApp: w.Store.ContactWhatsApp, StoreEmail: w.Store.ContactEmail,
			ProofPhoto: w.Order.ProofPhoto, ShareProofPhoto: true, AmountToCollect: w.Order.AmountToCollect, Currency: w.Order.Currency,
			Test: w.Order.Test, Steps: tracked.Steps, Substatus: w.Order.Substatus, Attempts: w.Order.Attempts,
			NextAttemptOn: w.Order.NextAttemptOn, DecisionDeadline: w.Order.DecisionDeadline, Rules: w.Operator.Rules,
			OperatorID: w.Operator.ID, SuspendedAt: w.Operator.SuspendedAt,
		}, *tracked)
	})
}

// A request that takes a key over writes every field of its record.
func TestClaimKey_everyFieldIsWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		var expired, claimed models.IdempotencyRecord
		(&fields.Filler{Bool: true}).Fill(&expired)
		(&fields.Filler{Given: 1000}).Fill(&claimed)
		claimed.ScopeID, claimed.Key = expired.ScopeID, expired.Key
		require.NoError(t, database.Insert(t.Context(), &expired))
		response, err := claimKey(t.Context(), database, &claimed, expired.ExpiresAt)
		require.NoError(t, err)
		require.Nil(t, response)
		stored := dbtest.Row[models.IdempotencyRecord](t, database, "key = ?", claimed.Key)
		dbtest.RequireWritten(t, expired, claimed, stored, "ScopeID", "Key")
	})
}
