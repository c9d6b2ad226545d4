package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// Open orders whose workflow was confirmed are left to the reconcile workflow again; ended ones are
// not. After a restore the running workflows end first.
func TestReconcileCommand_afterRestore(t *testing.T) {
	t.Setenv("SECRET_KEY", goodSecret)
	t.Setenv("TEMPORAL_ADDRESS", testenv.Temporal(t))
	t.Setenv("FILES_DIR", t.TempDir())
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		queue := "restored-" + uuid.NewString()
		t.Setenv("TEMPORAL_TASK_QUEUE", queue)
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
		temporal, err := client.Dial(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")})
		require.NoError(t, err)
		defer temporal.Close()
		run, err := temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.OrderWorkflowID(uuid.New()), TaskQueue: queue}, workflows.OrderWorkflowName)
		require.NoError(t, err)
		poll.Until(t, func() error { // Temporal's list of workflows lags behind
			out, err := despacho(t, "", "reconcile", "--after-restore")
			if err == nil && !strings.HasPrefix(out, "workflows ended: 1\n") {
				err = errors.New(out)
			}
			return err
		})
		described, err := temporal.DescribeWorkflowExecution(t.Context(), run.GetID(), run.GetRunID())
		require.NoError(t, err)
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, described.GetWorkflowExecutionInfo().GetStatus())
		var unconfirmed, confirmed string
		require.NoError(t, database.SQL().QueryRowContext(t.Context(), `SELECT
			(SELECT COUNT(*) FROM orders WHERE workflow_started_at IS NULL), (SELECT status FROM orders WHERE workflow_started_at IS NOT NULL)`).Scan(&unconfirmed, &confirmed))
		require.Equal(t, []string{"2", "cancelled"}, []string{unconfirmed, confirmed})
		out, err := despacho(t, "", "reconcile")
		require.NoError(t, err)
		require.Equal(t, "open orders to be looked at: 0\n", out)
	})
}
