package dbtest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/fields"
)

// Tenant is one row of each kind with every field set.
type Tenant struct {
	Operator models.Operator
	Branch   models.Branch
	Store    models.Store
	Rider    models.Rider
	Order    models.Order
	Webhook  models.Webhook
	Key      models.APIKey
	User     models.User
	Session  models.Session
	Pending  models.WebhookDelivery
	Failed   models.WebhookDelivery
}

// District is the location of the orders.
var District = catalog.DistrictID("PE", "150122")

// NewTenant inserts the rows. The order is cancelled: only that status allows every field.
func NewTenant(t testing.TB, database *db.DB) *Tenant {
	t.Helper()
	w, f := &Tenant{}, &fields.Filler{Bool: true}
	f.Fill(&w.Operator)
	w.Operator.CountryCode, w.Operator.Plan = "PE", models.PlanPro
	for _, row := range []any{&w.Branch, &w.Store, &w.Rider, &w.Order, &w.Webhook, &w.Key, &w.User, &w.Session, &w.Pending,
		&w.Failed} {
		f.Fill(row)
		if owner := reflect.ValueOf(row).Elem().FieldByName("OperatorID"); owner.IsValid() {
			owner.Set(reflect.ValueOf(w.Operator.ID))
		}
		if store := reflect.ValueOf(row).Elem().FieldByName("StoreID"); store.IsValid() {
			store.Set(reflect.ValueOf(&w.Store.ID))
		}
	}
	w.Webhook.OwnerStoreID, w.Webhook.PausedAt = &w.Store.ID, nil // a paused one is sent nothing
	w.User.Role, w.Session.UserID = models.RoleStore, w.User.ID
	order, by, document, source, outcome := &w.Order, models.ByStore, models.DocDNI, models.PointGiven, "found"
	order.BranchID, order.RiderID, order.LocationID, order.OperativeDay = w.Branch.ID, &w.Rider.ID, District, "2026-03-04"
	order.Status, order.CancelledBy, order.RecipientDocType, order.PointSource, order.DocOutcome = models.StatusCancelled, &by,
		&document, &source, &outcome
	substatus, day := models.SubstatusReturned, "2026-03-05"
	order.Substatus, order.NextAttemptOn = &substatus, &day
	order.DeliveryType, order.PaymentType = models.DeliveryAgency, models.CashOnDelivery
	order.RecipientDocNumber = nil // no column
	for _, delivery := range []*models.WebhookDelivery{&w.Pending, &w.Failed} {
		delivery.WebhookID, delivery.OrderID = w.Webhook.ID, &order.ID
	}
	w.Pending.Status, w.Pending.FinishedAt, w.Pending.Queued = models.WebhookDeliveryPending, nil, false
	w.Failed.Status = models.WebhookDeliveryFailed

	LoadCatalog(t, database)
	ctx := context.Background()
	for _, row := range []any{&w.Operator, &w.Branch, &w.Store, &w.Rider, &w.Order, &w.Webhook, &w.Key, &w.User, &w.Session,
		&w.Pending, &w.Failed} {
		require.NoError(t, database.Insert(ctx, row), "%T", row)
	}
	return w
}

// NewOrder inserts an operator with a branch and returns an order that the schema accepts.
func NewOrder(t testing.TB, database *db.DB) *models.Order {
	t.Helper()
	ctx := context.Background()
	LoadCatalog(t, database)
	now := time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)
	operator := &models.Operator{ID: uuid.New(), Name: "Operador", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN",
		Plan: models.PlanPro, CreatedAt: now, UpdatedAt: now}
	require.NoError(t, database.Insert(ctx, operator))
	branch := &models.Branch{ID: uuid.New(), OperatorID: operator.ID, Name: "Principal", Main: true, Active: true, CreatedAt: now}
	require.NoError(t, database.Insert(ctx, branch))
	return &models.Order{
		ID: uuid.New(), OperatorID: operator.ID, BranchID: branch.ID, GuideCode: uuid.NewString(),
		Status: models.StatusRegistered, Seq: 1,
		RecipientName: "Rosa", RecipientPhone: "+51987654321", DeliveryType: models.DeliveryHome,
		DeliveryAddress: "Av. Larco 345",
		LocationID:      District, Product: "Caja", Size: "M", AmountToCollect: 8990, ShippingCost: 900,
		Currency: "PEN", PaymentType: models.CashOnDelivery, OperativeDay: "2026-03-04", AutoCancelAt: now.Add(24 * time.Hour),
		CreatedAt: now, UpdatedAt: now,
	}
}
