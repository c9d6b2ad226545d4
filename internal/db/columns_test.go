package db_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/fields"
)

// clearOptional zeroes every optional field of a struct.
func clearOptional(row any) {
	value := reflect.ValueOf(row).Elem()
	for i := range value.NumField() {
		if value.Field(i).Kind() == reflect.Pointer {
			value.Field(i).SetZero()
		}
	}
}

// requireRead compares what was read with what was written, field by field, except the fields left
// out on purpose.
func requireRead(t *testing.T, want, got any, leftOut ...string) {
	t.Helper()
	written, read := fields.Of(want), fields.Of(got)
	require.NotEmpty(t, read)
	require.Len(t, read, len(written))
	for field, value := range read {
		if slices.Contains(leftOut, field) {
			assert.Zero(t, value, "%s is read: do not leave it out", field)
			continue
		}
		assert.NotZero(t, written[field], "%s was given no value", field)
		assert.Equal(t, written[field], value, "%s is not what was written", field)
	}
	for _, field := range leftOut {
		assert.Contains(t, read, field)
	}
}

// tenant is one row of each kind with every field set.
type tenant struct {
	operator models.Operator
	branch   models.Branch
	store    models.Store
	rider    models.Rider
	order    models.Order
	webhook  models.Webhook
	key      models.APIKey
	user     models.User
	session  models.Session
	pending  models.WebhookDelivery
	failed   models.WebhookDelivery
}

var testDistrict = catalog.DistrictID("PE", "150122")

// newTenant inserts the rows. The order is cancelled: only that status allows every field.
func newTenant(t *testing.T, database *db.DB) *tenant {
	t.Helper()
	w, f := &tenant{}, &fields.Filler{Bool: true}
	f.Fill(&w.operator)
	w.operator.CountryCode, w.operator.Plan = "PE", models.PlanPro
	for _, row := range []any{&w.branch, &w.store, &w.rider, &w.order, &w.webhook, &w.key, &w.user, &w.session, &w.pending, &w.failed} {
		f.Fill(row)
		if owner := reflect.ValueOf(row).Elem().FieldByName("OperatorID"); owner.IsValid() {
			owner.Set(reflect.ValueOf(w.operator.ID))
		}
		if store := reflect.ValueOf(row).Elem().FieldByName("StoreID"); store.IsValid() {
			store.Set(reflect.ValueOf(&w.store.ID))
		}
	}
	w.webhook.OwnerStoreID, w.webhook.PausedAt = &w.store.ID, nil // a paused one is sent nothing
	w.user.Role, w.session.UserID = models.RoleStore, w.user.ID
	order, by, document, source, outcome := &w.order, models.ByStore, models.DocDNI, models.PointGiven, "found"
	order.BranchID, order.RiderID, order.LocationID, order.OperativeDay = w.branch.ID, &w.rider.ID, testDistrict, "2026-03-04"
	order.Status, order.CancelledBy, order.RecipientDocType, order.PointSource, order.DocOutcome = models.StatusCancelled, &by, &document, &source, &outcome
	order.DeliveryType, order.PaymentType = models.DeliveryAgency, models.CashOnDelivery
	for _, delivery := range []*models.WebhookDelivery{&w.pending, &w.failed} {
		delivery.WebhookID, delivery.OrderID = w.webhook.ID, &order.ID
	}
	w.pending.Status, w.pending.FinishedAt, w.pending.Queued = models.WebhookDeliveryPending, nil, false
	w.failed.Status = models.WebhookDeliveryFailed

	loadCatalog(t, database)
	ctx := context.Background()
	for _, row := range []any{&w.operator, &w.branch, &w.store, &w.rider, &w.order, &w.webhook, &w.key, &w.user, &w.session, &w.pending, &w.failed} {
		require.NoError(t, database.Insert(ctx, row), "%T", row)
	}
	return w
}

// onlyRow returns the only row of a list.
func onlyRow[T any](rows []T, err error) (any, error) {
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%d rows instead of one", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Statements that list their columns read every field of their struct. They work as before when the
// next release's migrations have changed the tables for which they were prepared.
func TestReads_everyFieldComesBack(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		ctx, w := context.Background(), newTenant(t, database)
		before, after := w.operator.CreatedAt.AddDate(-1, 0, 0), w.operator.CreatedAt.AddDate(1, 0, 0)
		scope := db.OrderScope{OperatorID: w.operator.ID, Test: w.order.Test}
		view := models.OrderView{Order: w.order, LocationName: "Miraflores", RiderName: &w.rider.Name, RiderPhone: &w.rider.Phone}
		target := func(d models.WebhookDelivery) db.DeliveryTarget {
			return db.DeliveryTarget{
				ID: d.ID, WebhookID: w.webhook.ID, OperatorID: w.operator.ID, Event: d.Event, URL: w.webhook.URL, Retry: true, OrderID: d.OrderID, NextAttemptAt: d.NextAttemptAt,
			}
		}
		span := db.OrderFilter{From: &before, Until: &after, Page: 1, Limit: 10}
		created := w.order.CreatedAt.Unix() / 86400
		reads := map[string]struct {
			want    any
			read    func() (any, error)
			leftOut []string
		}{
			"OrderView":        {view, func() (any, error) { return database.OrderView(ctx, scope, w.order.ID) }, nil},
			"OrderViewByID":    {view, func() (any, error) { return database.OrderViewByID(ctx, w.order.ID) }, nil},
			"OrderViewByGuide": {view, func() (any, error) { return database.OrderViewByGuideCode(ctx, scope, w.order.GuideCode) }, nil},
			"OrderViews":       {view, func() (any, error) { return onlyRow(database.OrderViews(ctx, scope, []uuid.UUID{w.order.ID})) }, nil},
			"PageOfOrders":     {view, func() (any, error) { return onlyRow(database.PageOfOrders(ctx, scope, span, 1)) }, nil},
			"OrdersReceivedSince": {view, func() (any, error) {
				views, _, err := database.OrdersReceivedSince(ctx, scope, before, 10)
				return onlyRow(views, err)
			}, nil},
			"OrderDetails": {
				models.OrderDetail{OrderView: view, StoreName: &w.store.Name, BranchName: w.branch.Name},
				func() (any, error) { return onlyRow(database.OrderDetails(ctx, scope, []uuid.UUID{w.order.ID})) }, nil,
			},
			"LockOrder": {w.order, func() (any, error) { return database.LockOrder(ctx, w.order.ID) }, nil},
			"InMove": {w.order, func() (read any, err error) {
				err = database.InMove(ctx, w.order.ID, nil, nil, func(_, _ *db.DB, order *models.Order, _ *db.MoveContext) error {
					read = order
					return nil
				})
				return read, err
			}, nil},
			// The key is revoked, so its request is not counted.
			"Authenticate": {
				db.KeyHolder{Key: w.key, Operator: w.operator, StoreActive: true},
				func() (any, error) {
					holder, _, err := database.Authenticate(ctx, w.key.Hash, before, w.order.ID)
					return holder, err
				}, []string{"Key.Hash", "Used"},
			},
			"SessionByToken": {
				db.SignedIn{SessionID: w.session.ID, User: w.user, Operator: w.operator, StoreActive: true, UserRequests: 1, OperatorRequests: 1},
				func() (any, error) {
					signedIn, _, err := database.SessionByToken(ctx, w.session.TokenHash, before, w.order.ID)
					return signedIn, err
				}, []string{"User.PasswordHash", "User.TOTPSecret"},
			},
			"MoveContext": {
				db.MoveContext{
					Operator: w.operator, LocationName: "Miraflores", RiderName: &w.rider.Name, RiderPhone: &w.rider.Phone,
					RiderActive: &w.rider.Active, BranchActive: &w.branch.Active, HasWebhooks: true,
				},
				func() (read any, err error) {
					err = database.InMove(ctx, w.order.ID, &w.rider.ID, &w.branch.ID, func(_, _ *db.DB, _ *models.Order, moveContext *db.MoveContext) error {
						read = moveContext
						return nil
					})
					return read, err
				}, nil,
			},
			"Track": {
				db.Tracked{
					ID: w.order.ID, GuideCode: w.order.GuideCode, Status: w.order.Status, Product: w.order.Product,
					OperatorName: w.operator.Name, LogoURL: w.operator.LogoURL, LogoPhoto: w.operator.LogoPhoto, Timezone: w.operator.Timezone,
					StoreName: &w.store.Name, StorePhone: w.store.ContactPhone, StoreWhatsApp: w.store.ContactWhatsApp, StoreEmail: w.store.ContactEmail,
					ProofPhoto: w.order.ProofPhoto, ShareProofPhoto: true, AmountToCollect: w.order.AmountToCollect, Currency: w.order.Currency, Test: w.order.Test,
				},
				func() (any, error) { return database.Track(ctx, w.order.GuideCode) }, nil,
			},
			"PendingDeliveries": {target(w.pending), func() (any, error) { return onlyRow(database.PendingDeliveries(ctx, w.order.ID, nil, 10)) }, nil},
			"AbandonedDeliveries": {target(w.pending), func() (any, error) {
				return onlyRow(database.AbandonedDeliveries(ctx, after, after, db.Position{}, 10))
			}, nil},
			"FailedDeliveries": {target(w.failed), func() (any, error) { return onlyRow(database.FailedDeliveries(ctx, w.webhook.ID, before, after, 10)) }, nil},
			"OrdersByDay": {
				db.DayCount{Day: created, Status: w.order.Status, CancelledBy: w.order.CancelledBy, Count: 1, Collected: *w.order.ActualAmountCollected},
				func() (any, error) { return onlyRow(database.OrdersByDay(ctx, scope, span, time.UTC)) }, nil,
			},
			"CancelReasons": {
				db.DayReason{Day: created, Reason: *w.order.CancelReason, Count: 1},
				func() (any, error) { return onlyRow(database.CancelReasons(ctx, scope, span, time.UTC)) }, nil,
			},
			"CountOrdersByLocation": {
				db.LocationCount{LocationID: w.order.LocationID, Orders: 1},
				func() (any, error) { return onlyRow(database.CountOrdersByLocation(ctx, scope, w.order.Status)) }, nil,
			},
		}
		database.SQL().SetMaxOpenConns(1) // what a connection has prepared is used again after the migration
		for name, test := range reads {
			t.Run(name, func(t *testing.T) {
				got, err := test.read()
				require.NoError(t, err)
				requireRead(t, test.want, got, test.leftOut...)
			})
		}
		require.NoError(t, apptest.ExpandSchema(ctx, database, apptest.LaterVersion))
		for name, test := range reads {
			t.Run(name+" after a migration", func(t *testing.T) {
				_, err := test.read()
				require.NoError(t, err)
			})
		}
	})
}

// The catalog's own types are copied to rows and back field by field.
func TestCatalog_everyFieldComesBack(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		ctx, f := context.Background(), &fields.Filler{Bool: true}
		loadCatalog(t, database)
		var country catalog.Country
		var place catalog.Location
		f.Fill(&country)
		f.Fill(&place)
		country.Code = "ZZ"
		place.CountryCode, place.Type, place.ParentID = country.Code, catalog.TypeZone, &testDistrict
		require.NoError(t, database.LoadCatalog(ctx, []catalog.Country{country}, []catalog.Location{place}))
		countries, places, err := database.Catalog(ctx)
		require.NoError(t, err)
		at := slices.IndexFunc(countries, func(c catalog.Country) bool { return c.Code == country.Code })
		require.GreaterOrEqual(t, at, 0)
		requireRead(t, country, countries[at])
		at = slices.IndexFunc(places, func(l catalog.Location) bool { return l.ID == place.ID })
		require.GreaterOrEqual(t, at, 0)
		requireRead(t, place, places[at])
	})
}

// Statements that list the columns they write change every field except those listed here. Whoever
// adds a field decides which it is.
func TestWrites_everyFieldIsWrittenOrKept(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		ctx, w, f := context.Background(), newTenant(t, database), &fields.Filler{Given: 1000}
		branch := models.Branch{ID: uuid.New(), OperatorID: w.operator.ID, Name: "Otra", CreatedAt: w.branch.CreatedAt}
		rider := models.Rider{ID: uuid.New(), OperatorID: w.operator.ID, Name: "Otro", CreatedAt: w.rider.CreatedAt}
		coverage := models.Coverage{ID: uuid.New(), OperatorID: w.operator.ID, LocationID: testDistrict, Price: w.operator.BasePrice, CreatedAt: w.branch.CreatedAt}
		var record models.IdempotencyRecord
		(&fields.Filler{Bool: true}).Fill(&record)
		for _, row := range []any{&branch, &rider, &coverage, &record} {
			require.NoError(t, database.Insert(ctx, row))
		}

		order, event := w.order, models.TimelineEntry{ID: uuid.New(), OrderID: w.order.ID, Status: models.StatusDelivered, At: w.order.CreatedAt}
		f.Fill(&order)
		order.ID, order.Seq, order.Status, order.CancelledBy = w.order.ID, w.order.Seq+1, models.StatusDelivered, nil
		order.BranchID, order.RiderID, order.OperativeDay = branch.ID, &rider.ID, "2027-04-05"

		delivery, webhook, operator, answered, price := w.failed, w.webhook, w.operator, record, coverage
		f.Fill(&delivery)
		delivery.ID, delivery.Status = w.failed.ID, models.WebhookDeliveryDelivered
		f.Fill(&webhook)
		webhook.ID = w.webhook.ID
		f.Fill(&operator)
		operator.ID = w.operator.ID
		f.Fill(&answered)
		answered.ScopeID, answered.Key = record.ScopeID, record.Key
		f.Fill(&price)
		price.ID, price.OperatorID, price.LocationID = coverage.ID, coverage.OperatorID, coverage.LocationID

		for name, test := range map[string]struct {
			before, wanted any
			write          func() error
			read           func() (any, error)
			kept           []string
		}{
			"SaveMove": {
				w.order, order,
				func() error { return database.SaveMove(ctx, &models.Order{}, &order, &event) },
				func() (any, error) { return database.LockOrder(ctx, order.ID) },
				[]string{ // set at creation, or by something other than a move
					"ID", "OperatorID", "StoreID", "Test", "GuideCode", "ExternalID", "RecipientName", "RecipientPhone", "RecipientDocType", "RecipientDocNumber", "RecipientDocEncrypted",
					"RecipientDocVerified", "DocOutcome", "DocNameMatches", "DeliveryType", "DeliveryAddress", "DeliveryReference", "LocationID",
					"DeliveryLat", "DeliveryLng", "DeliveryMapsURL", "PointSource", "Product", "Size", "Notes", "SearchText", "AmountToCollect",
					"ShippingCost", "Currency", "PaymentType", "RiskZone", "AutoCancelAt", "CreatedAt",
				},
			},
			"SaveDelivery": {
				w.failed, delivery,
				func() error { return database.SaveDelivery(ctx, &delivery) },
				func() (any, error) { stored, _, err := database.Delivery(ctx, delivery.ID); return stored, err },
				[]string{"ID", "WebhookID", "OperatorID", "Test", "OrderID", "OrderSeq", "Event", "Data", "AttemptsBefore", "CreatedAt", "ErasedAt"},
			},
			"SaveSecrets": {
				w.webhook, webhook,
				func() error { return database.SaveSecrets(ctx, &webhook) },
				func() (any, error) { return database.Webhook(ctx, webhook.ID) },
				[]string{
					"ID", "OperatorID", "StoreID", "OwnerStoreID", "Test", "URL", "Events", "Retry", "Active", "PausedAt", "FailingSince",
					"ConsecutiveFailures", "CircuitOpenedAt", "NextProbeAt", "ProbingUntil", "DeactivatedAt", "DeactivatedReason", "CreatedAt",
				},
			},
			"SaveOperatorSettings": {
				w.operator, operator,
				func() error { return database.SaveOperatorSettings(ctx, &operator) },
				func() (any, error) { return database.Operator(ctx, operator.ID) },
				[]string{"ID", "CountryCode", "Timezone", "Currency", "Plan", "SuspendedAt", "SettingsVersion", "CreatedAt"},
			},
			"ClaimKey": {
				record, answered,
				func() error {
					claim, _, err := database.ClaimKey(ctx, &answered, record.ExpiresAt)
					if err == nil && claim != db.Claimed {
						err = fmt.Errorf("claim %d", claim)
					}
					return err
				},
				func() (any, error) {
					return onlyRow(database.CompletedKeys(ctx, record.ScopeID, []string{record.Key}, time.Time{}))
				},
				[]string{"ScopeID", "Key"},
			},
			"SaveCoverage": {
				coverage, price,
				func() error { return database.SaveCoverage(ctx, []models.Coverage{price}) },
				func() (any, error) { return db.FindOwned[models.Coverage](ctx, database, w.operator.ID, price.ID) },
				[]string{"ID", "OperatorID", "LocationID", "CreatedAt"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				require.NoError(t, test.write())
				got, err := test.read()
				require.NoError(t, err)
				before, wanted, stored := fields.Of(test.before), fields.Of(test.wanted), fields.Of(got)
				for field, value := range stored {
					if slices.Contains(test.kept, field) {
						assert.Equal(t, before[field], value, "%s does not stay as it was", field)
						continue
					}
					assert.NotEqual(t, before[field], wanted[field], "%s was given no other value", field)
					assert.Equal(t, wanted[field], value, "%s is not written", field)
				}
				for _, field := range test.kept {
					assert.Contains(t, stored, field)
				}
			})
		}
	})
}
