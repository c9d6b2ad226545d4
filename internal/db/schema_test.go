package db_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
	"despacho/test/dbtest"
)

// statementCount is a GORM plugin that counts statements.
type statementCount struct{ atomic.Int64 }

func (*statementCount) Name() string { return "test:statement_count" }

func (c *statementCount) Initialize(database *gorm.DB) error {
	count := func(*gorm.DB) { c.Add(1) }
	on := database.Callback()
	return errors.Join(
		on.Create().Register(c.Name(), count), on.Query().Register(c.Name(), count), on.Update().Register(c.Name(), count),
		on.Delete().Register(c.Name(), count), on.Row().Register(c.Name(), count), on.Raw().Register(c.Name(), count),
	)
}

func TestLoadCatalog_idempotentAndComplete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx := context.Background()
		statements := &statementCount{}
		require.NoError(t, database.Use(statements))
		dbtest.LoadCatalog(t, database)
		atFirst := statements.Load()
		size := func() (locations int64) {
			require.NoError(t, database.SQL().QueryRowContext(ctx, "SELECT COUNT(*) FROM locations").Scan(&locations))
			return locations
		}
		first := size()
		statements.Store(0)
		dbtest.LoadCatalog(t, database)
		require.Equal(t, atFirst, statements.Load(), "every start of the service loads it: rows that are there cost no more statements")
		require.Less(t, atFirst, first/100, "rows go together")
		require.Equal(t, first, size())
		countries, places := catalog.Embedded()
		require.Len(t, countries, 18)
		require.EqualValues(t, len(places), first)
	})
}

func TestOrder_readsBackAsItWasWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		order := dbtest.NewOrder(t, database)
		lat, lng, yes := -12.121212, -77.030303, true
		reference, collected := "Frente al parque\nportón verde", money.Cents(9000)
		order.DeliveryLat, order.DeliveryLng, order.RecipientDocVerified = &lat, &lng, &yes
		order.DeliveryReference, order.ActualAmountCollected = &reference, &collected
		require.NoError(t, database.Insert(context.Background(), order))
		view, err := database.OrderViewByID(context.Background(), order.ID)
		require.NoError(t, err)
		require.Equal(t, "Miraflores", view.LocationName)
		require.True(t, view.CreatedAt.Equal(order.CreatedAt), "microseconds survive")
		read := view.Order
		read.CreatedAt, read.UpdatedAt, read.AutoCancelAt = order.CreatedAt, order.UpdatedAt, order.AutoCancelAt
		require.Equal(t, *order, read)
	})
}

// The schema's constraints refuse invalid rows.
func TestSchema_refusesImpossibleOrders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		auto, lat := models.ByAuto, -12.0
		base := dbtest.NewOrder(t, database)
		for name, spoil := range map[string]func(*models.Order){
			"unknown status":               func(o *models.Order) { o.Status = "lost" },
			"unknown payment type":         func(o *models.Order) { o.PaymentType = "barter" },
			"negative amount":              func(o *models.Order) { o.AmountToCollect = -1 },
			"latitude without longitude":   func(o *models.Order) { o.DeliveryLat = &lat },
			"cancelled by nobody":          func(o *models.Order) { o.Status = models.StatusCancelled },
			"cancelled and yet registered": func(o *models.Order) { o.CancelledBy = &auto },
			"assigned to nobody":           func(o *models.Order) { o.Status = models.StatusAssigned },
			"unknown location":             func(o *models.Order) { o.LocationID = uuid.New() },
			"unknown operator":             func(o *models.Order) { o.OperatorID = uuid.New() },
			"unknown branch":               func(o *models.Order) { o.BranchID = uuid.New() },
		} {
			order := *base
			order.ID, order.GuideCode = uuid.New(), uuid.NewString()
			spoil(&order)
			require.Error(t, database.Insert(context.Background(), &order), name)
		}
		require.NoError(t, database.Insert(context.Background(), base))
		twin := *base
		twin.ID = uuid.New()
		err := database.Insert(context.Background(), &twin)
		require.True(t, db.IsDuplicate(err), "a guide code names one order: %v", err)
	})
}

// A zone that was just loaded is found by whoever asks for its id, and then in the catalog.
func TestCatalogCache_findsANewLocation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		countries, locations := catalog.Embedded()
		require.NoError(t, database.LoadCatalog(t.Context(), countries, locations))
		cache := db.NewCatalogCache(database)
		_, known, err := cache.Destination(t.Context(), uuid.New())
		require.NoError(t, err)
		require.False(t, known)
		before, err := cache.Index(t.Context())
		require.NoError(t, err)
		district, _ := before.ByUbigeo("PE", "150122")
		zone := catalog.NewZone(district, "Santa Cruz")
		require.NoError(t, database.LoadCatalog(t.Context(), nil, []catalog.Location{zone}))
		places, known, err := cache.Destination(t.Context(), zone.ID)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, district.ID, places[1].ID)
		after, err := cache.Index(t.Context())
		require.NoError(t, err)
		_, known = after.Location(zone.ID)
		require.True(t, known)
	})
}
