package db_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
	"despacho/test/testenv"
)

// Statements that list their columns read every field of their struct. They work as before when the
// next release's migrations have changed the tables for which they were prepared.
func TestReads_everyFieldComesBack(t *testing.T) {
	testenv.SkipIfShort(t)
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, w := context.Background(), dbtest.NewTenant(t, database)
		before := w.Operator.CreatedAt.AddDate(-1, 0, 0)
		scope := db.OrderScope{OperatorID: w.Operator.ID, Test: w.Order.Test}
		view := models.OrderView{Order: w.Order, LocationName: "Miraflores", RiderName: &w.Rider.Name, RiderPhone: &w.Rider.Phone}
		reads := map[string]struct {
			want    any
			read    func() (any, error)
			leftOut []string
		}{
			"OrderView":     {view, func() (any, error) { return database.OrderView(ctx, scope, w.Order.ID) }, nil},
			"OrderViewByID": {view, func() (any, error) { return database.OrderViewByID(ctx, w.Order.ID) }, nil},
			"InMove": {w.Order, func() (read any, err error) {
				err = database.InMove(ctx, w.Order.ID, uuid.Nil, nil, nil, func(_, _ *db.DB, order *models.Order, _ *db.MoveContext) error {
					read = order
					return nil
				})
				return read, err
			}, nil},
			// The key is revoked, so its request is not counted.
			"Authenticate": {
				db.KeyHolder{Key: w.Key, Operator: w.Operator, StoreActive: true},
				func() (any, error) {
					holder, _, err := database.Authenticate(ctx, w.Key.Hash, before, w.Order.ID)
					return holder, err
				}, []string{"Key.Hash", "Used"},
			},
			"SessionByToken": {
				db.SignedIn{SessionID: w.Session.ID, User: w.User, Operator: w.Operator, StoreActive: true, UserRequests: 1, OperatorRequests: 1},
				func() (any, error) {
					signedIn, _, err := database.SessionByToken(ctx, w.Session.TokenHash, before, w.Order.ID)
					return signedIn, err
				}, []string{"User.PasswordHash", "User.TOTPSecret"},
			},
			"MoveContext": {
				db.MoveContext{
					Operator: w.Operator, LocationName: "Miraflores", RiderName: &w.Rider.Name, RiderPhone: &w.Rider.Phone,
					RiderActive: &w.Rider.Active, BranchActive: &w.Branch.Active,
					StoreAttemptFee: w.Store.AttemptFee, StoreReturnFee: w.Store.ReturnFee, HasWebhooks: true, HasPending: true,
				},
				func() (read any, err error) {
					err = database.InMove(ctx, w.Order.ID, uuid.Nil, &w.Rider.ID, &w.Branch.ID, func(_, _ *db.DB, _ *models.Order, moveContext *db.MoveContext) error {
						read = moveContext
						return nil
					})
					return read, err
				}, []string{"EntrySeq"},
			},
		}
		database.SQL().SetMaxOpenConns(1) // what a connection has prepared is used again after the migration
		for name, test := range reads {
			t.Run(name, func(t *testing.T) {
				got, err := test.read()
				require.NoError(t, err)
				dbtest.RequireRead(t, test.want, got, test.leftOut...)
			})
		}
		require.NoError(t, dbtest.ExpandSchema(ctx, database, dbtest.LaterVersion))
		for name, test := range reads {
			t.Run(name+" after a migration", func(t *testing.T) {
				_, err := test.read()
				require.NoError(t, err)
			})
		}
	})
}

// A zone is copied to a row and back field by field. Ubigeos are those of districts.
func TestZones_everyFieldComesBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, f := context.Background(), &fields.Filler{Bool: true}
		dbtest.LoadCatalog(t, database)
		var country catalog.Country
		var place catalog.Location
		f.Fill(&country)
		f.Fill(&place)
		country.Code = "ZZ"
		place.CountryCode, place.Type, place.ParentID = country.Code, catalog.TypeZone, &dbtest.District
		require.NoError(t, database.LoadCatalog(ctx, []catalog.Country{country}, []catalog.Location{place}))
		zones, err := database.Zones(ctx)
		require.NoError(t, err)
		require.Len(t, zones, 1)
		dbtest.RequireRead(t, place, zones[0], "Ubigeo", "Reniec")
	})
}

// Statements that list the columns they write change every field except those listed here. Whoever
// adds a field decides which it is.
func TestWrites_everyFieldIsWrittenOrKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, w, f := context.Background(), dbtest.NewTenant(t, database), &fields.Filler{Given: 1000}
		branch := models.Branch{ID: uuid.New(), OperatorID: w.Operator.ID, Name: "Otra", CreatedAt: w.Branch.CreatedAt}
		rider := models.Rider{ID: uuid.New(), OperatorID: w.Operator.ID, Name: "Otro", CreatedAt: w.Rider.CreatedAt}
		for _, row := range []any{&branch, &rider} {
			require.NoError(t, database.Insert(ctx, row))
		}

		order, event := w.Order, models.TimelineEntry{ID: uuid.New(), OrderID: w.Order.ID, Status: models.StatusDelivered, At: w.Order.CreatedAt}
		f.Fill(&order)
		order.ID, order.Seq, order.Status, order.CancelledBy = w.Order.ID, w.Order.Seq+1, models.StatusDelivered, nil
		order.BranchID, order.RiderID, order.OperativeDay = branch.ID, &rider.ID, "2027-04-05"
		substatus, day := models.SubstatusRetryPlanned, "2027-04-06"
		order.Substatus, order.NextAttemptOn = &substatus, &day

		for name, test := range map[string]struct {
			before, wanted any
			write          func() error
			read           func() (any, error)
			kept           []string
		}{
			"SaveMove": {
				w.Order, order,
				func() error { return database.SaveMove(ctx, &models.Order{}, &order, &event) },
				func() (any, error) {
					return dbtest.OnlyRow(dbtest.Rows[models.Order](t, database, "id = ?", order.ID), nil)
				},
				[]string{ // set at creation, or by something other than a move
					"ID", "OperatorID", "StoreID", "Test", "GuideCode", "ExternalID", "RecipientName", "RecipientPhone", "RecipientDocType", "RecipientDocEncrypted",
					"RecipientDocVerified", "DocOutcome", "DocNameMatches", "DeliveryType", "DeliveryAddress", "DeliveryReference", "LocationID",
					"DeliveryLat", "DeliveryLng", "DeliveryMapsURL", "PointSource", "Product", "Size", "Notes", "SearchText", "AmountToCollect",
					"ShippingCost", "Currency", "PaymentType", "RiskZone", "AutoCancelAt", "CreatedAt",
				},
			},
		} {
			t.Run(name, func(t *testing.T) {
				require.NoError(t, test.write())
				got, err := test.read()
				require.NoError(t, err)
				dbtest.RequireWritten(t, test.before, test.wanted, got, test.kept...)
			})
		}
	})
}
