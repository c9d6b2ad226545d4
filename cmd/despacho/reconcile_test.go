package main

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
)

// Open orders whose workflow was confirmed are left to the reconcile workflow again; ended ones are
// not.
func TestReconcileCommand_unconfirmsOpenOrders(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		_, err := loadCatalog(t.Context(), database)
		require.NoError(t, err)
		now := time.Now().UTC().Truncate(time.Microsecond)
		operator := models.Operator{ID: uuid.New(), Name: "Operador", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN", Plan: models.PlanPro, CreatedAt: now, UpdatedAt: now}
		branch := models.Branch{ID: uuid.New(), OperatorID: operator.ID, Name: "Principal", Main: true, Active: true, CreatedAt: now}
		require.NoError(t, database.Insert(t.Context(), &operator))
		require.NoError(t, database.Insert(t.Context(), &branch))
		byOperator := models.ByOperator
		for _, status := range []models.Status{models.StatusRegistered, models.StatusReceived, models.StatusCancelled} {
			order := models.Order{
				ID: uuid.New(), OperatorID: operator.ID, BranchID: branch.ID, GuideCode: uuid.NewString(), Status: status, Seq: 1,
				RecipientName: "Rosa", RecipientPhone: "+51987654321", DeliveryType: models.DeliveryHome, DeliveryAddress: "Av. Larco 345",
				LocationID: catalog.DistrictID("PE", "150122"), Product: "Caja", Size: "M", Currency: "PEN", PaymentType: models.DeliveryOnly,
				OperativeDay: "2026-03-04", AutoCancelAt: now, WorkflowStartedAt: &now, CreatedAt: now, UpdatedAt: now,
			}
			if status == models.StatusCancelled {
				order.CancelledBy, order.CancelledAt = &byOperator, &now
			}
			require.NoError(t, database.Insert(t.Context(), &order))
		}
		out, err := despacho(t, "", "reconcile")
		require.NoError(t, err)
		require.Equal(t, "open orders to be looked at: 2\n", out)
		unconfirmed, err := database.OrdersMissingWorkflow(t.Context(), now.Add(time.Hour), time.Minute, db.Position{}, 10)
		require.NoError(t, err)
		require.Len(t, unconfirmed, 2)
	})
}
