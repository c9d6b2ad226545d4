package apptest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/guidecode"
	"despacho/internal/orders"
	"despacho/models"
)

// Row is an order of the tenant to insert, created at the given time. It has no workflow: it is for
// tests of reading.
func (tenant *Tenant) Row(createdAt time.Time, changes ...func(*models.Order)) models.Order {
	createdAt = createdAt.UTC().Truncate(time.Microsecond)
	order := models.Order{
		ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: &tenant.StoreA.ID, BranchID: tenant.Main.ID,
		GuideCode: guidecode.New(), Status: models.StatusRegistered, Seq: 1,
		RecipientName: "Rosa Díaz", RecipientPhone: "+51987654321", DeliveryType: models.DeliveryHome,
		DeliveryAddress: "Av. Larco 345",
		LocationID:      Miraflores, Product: "Zapatillas", Size: "M", ShippingCost: 900, Currency: "PEN",
		PaymentType:  models.DeliveryOnly,
		OperativeDay: createdAt.In(tenant.Operator.TimeZone()).Format(time.DateOnly),
		// The reconcile workflow must leave it alone.
		AutoCancelAt: createdAt.AddDate(100, 0, 0), WorkflowStartedAt: &createdAt, CreatedAt: createdAt, UpdatedAt: createdAt,
	}
	for _, change := range changes {
		change(&order)
	}
	return order
}

// ReceivedAfter is a Row's change: the package came in so much later.
func ReceivedAfter(after time.Duration) func(*models.Order) {
	return func(o *models.Order) {
		at := o.CreatedAt.Add(after)
		o.Status, o.ReceivedAt = models.StatusReceived, &at
	}
}

// AssignedAfter is a Row's change: a rider got a received package so long after its reception.
func AssignedAfter(rider models.Rider, after time.Duration) func(*models.Order) {
	return func(o *models.Order) {
		at := o.ReceivedAt.Add(after)
		o.Status, o.AssignedAt, o.RiderID = models.StatusAssigned, &at, &rider.ID
	}
}

// DeliveredAfter is a Row's change: a rider handed a received package over so long after its
// reception.
func DeliveredAfter(rider models.Rider, after time.Duration) func(*models.Order) {
	return func(o *models.Order) {
		at := o.ReceivedAt.Add(after)
		o.Status, o.RiderID, o.AssignedAt, o.DeliveredAt = models.StatusDelivered, &rider.ID, o.ReceivedAt, &at
	}
}

// CancelledBy is a Row's change: the actor cancelled the order; an empty reason is none.
func CancelledBy(actor models.Actor, reason string) func(*models.Order) {
	return func(o *models.Order) {
		at := o.CreatedAt.Add(time.Minute)
		o.Status, o.CancelledBy, o.CancelledAt = models.StatusCancelled, &actor, &at
		if reason != "" {
			o.CancelReason = &reason
		}
	}
}

// GivePhone gives a rider of the tenant a phone that is in use.
func (tenant *Tenant) GivePhone(t testing.TB, rider models.Rider) {
	t.Helper()
	now, pin := tenant.Operator.CreatedAt, "no PIN has this hash"
	tenant.Change(t, &models.RiderDevice{
		ID: uuid.New(), OperatorID: tenant.Operator.ID, RiderID: rider.ID, LinkExpiresAt: now, TokenHash: []byte(rider.ID.String()),
		PINHash: &pin, CreatedAt: now, ActivatedAt: &now,
	})
}

// insertBatch keeps statements short: SQLite takes several times longer over long ones.
const insertBatch = 50

// InsertRows writes the orders, however many, in one transaction.
func (tenant *Tenant) InsertRows(t testing.TB, rows []models.Order) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, tenant.s.App.DB.InTx(ctx, func(tx *db.DB) error {
		for some := range slices.Chunk(rows, insertBatch) {
			if err := tx.Insert(ctx, &some); err != nil {
				return err
			}
			for i := range some {
				if err := orders.SaveTotals(ctx, tx, &tenant.Operator, nil, &some[i]); err != nil {
					return err
				}
				written := &models.TimelineEntry{ID: uuid.New()}
				if err := orders.SaveLedger(ctx, tx, &tenant.Operator, nil, &some[i], written); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}
