package main

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/testenv"
)

// Whose data has to be said, one way.
func TestOperatorErase_needsOneOrderOrOnePhone(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"--operator", "Rayo"},
		{"--operator", "Rayo", "--order", "7d3f0a52-4c1e-4b8f-9a60-2f5d8e1c7b34", "--phone", "987654321"},
	} {
		command := operatorEraseCommand()
		command.SetArgs(arguments)
		command.SilenceUsage, command.SilenceErrors = true, true
		require.ErrorContains(t, command.ExecuteContext(t.Context()), "either --order or --phone")
	}
}

// Where one of the orders to a phone cannot be erased, it is said which, and how many were.
func TestOperatorErase_byPhoneCountsBesideWhatItCannotErase(t *testing.T) {
	t.Setenv("DATABASE_URL", testenv.SQLite(t))
	t.Setenv("SECRET_KEY", goodSecret)
	t.Setenv("TEMPORAL_ADDRESS", testenv.Temporal(t))
	t.Setenv("FILES_DIR", t.TempDir())
	database, err := openDatabase(t.Context())
	require.NoError(t, err)
	defer database.Close()
	_, err = loadCatalog(t.Context(), database)
	require.NoError(t, err)
	_, err = despacho(t, "", "operator", "create", "Rayo Envíos")
	require.NoError(t, err)
	operator, err := newOperators(database).Find(t.Context(), "Rayo Envíos")
	require.NoError(t, err)
	refused := insertCancelledOrders(t, database, operator, 3)
	_, err = database.SQL().ExecContext(t.Context(), "CREATE TRIGGER refused BEFORE UPDATE ON orders WHEN OLD.id = '"+refused.String()+"' BEGIN SELECT RAISE(ABORT, 'refused'); END")
	require.NoError(t, err)

	out, err := despacho(t, "", "operator", "erase", "--operator", "Rayo Envíos", "--phone", "987654321")
	require.ErrorContains(t, err, refused.String())
	require.Equal(t, "erased: 2, not ended yet: 0\n", out)
}

// insertCancelledOrders inserts orders to 987654321, and returns the id of the oldest.
func insertCancelledOrders(t *testing.T, database *db.DB, operator *models.Operator, count int) uuid.UUID {
	t.Helper()
	var branch string
	require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT id FROM branches WHERE main").Scan(&branch))
	byOperator := models.ByOperator
	ids := make([]uuid.UUID, count)
	for i := range ids {
		ids[i] = uuid.New()
		at := time.Now().UTC().Truncate(time.Microsecond).Add(time.Duration(i-count) * time.Minute)
		require.NoError(t, database.Insert(t.Context(), &models.Order{
			ID: ids[i], OperatorID: operator.ID, BranchID: uuid.MustParse(branch), GuideCode: uuid.NewString(), Status: models.StatusCancelled, Seq: 1,
			RecipientName: "Rosa", RecipientPhone: "+51987654321", DeliveryType: models.DeliveryHome, DeliveryAddress: "Av. Larco 345",
			LocationID: catalog.DistrictID("PE", "150122"), Product: "Caja", Size: "M", Currency: "PEN", PaymentType: models.DeliveryOnly,
			OperativeDay: "2026-03-04", AutoCancelAt: at, WorkflowStartedAt: &at, CreatedAt: at, UpdatedAt: at, CancelledBy: &byOperator, CancelledAt: &at,
		}))
	}
	return ids[0]
}
