package webhooks

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
)

// Neither another operator's webhooks nor those of the other mode are found or changed.
func TestHooks_nothingOutsideTheScope(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, w := t.Context(), dbtest.NewTenant(t, database)
		found := func(scope db.WebhookScope) (found int) {
			for _, find := range []func() (any, error){
				func() (any, error) { return hookIn(ctx, database, scope, w.Webhook.ID) },
				func() (any, error) { return activeHook(ctx, database, scope, w.Webhook.ID) },
				func() (any, error) { return dbtest.OnlyRow(Active(ctx, database, scope)) },
				func() (any, error) { return dbtest.OnlyRow(allHooks(ctx, database, scope, 10)) },
				func() (any, error) {
					return nil, deactivateHook(ctx, database, scope, w.Webhook.ID, "Prueba.", w.Webhook.CreatedAt)
				},
			} {
				if _, err := find(); err == nil {
					found++
				}
			}
			return found
		}
		require.Zero(t, found(db.WebhookScope{OperatorID: w.Operator.ID, Test: !w.Webhook.Test}))
		require.Zero(t, found(db.WebhookScope{OperatorID: uuid.New(), Test: w.Webhook.Test}))
		require.Equal(t, 5, found(db.WebhookScope{OperatorID: w.Operator.ID, Test: w.Webhook.Test}))
	})
}

// Saving a webhook's secrets changes nothing else of it.
func TestSaveSecrets_theRestStays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		changed := w.Webhook
		(&fields.Filler{Given: 1000}).Fill(&changed)
		changed.ID = w.Webhook.ID
		require.NoError(t, saveSecrets(t.Context(), database, &changed))
		dbtest.RequireWritten(t, w.Webhook, changed, dbtest.Row[models.Webhook](t, database, "id = ?", changed.ID),
			"ID", "OperatorID", "StoreID", "OwnerStoreID", "Test", "URL", "Events", "Retry", "Active", "PausedAt", "FailingSince",
			"ConsecutiveFailures", "CircuitOpenedAt", "NextProbeAt", "ProbingUntil", "DeactivatedAt", "DeactivatedReason", "CreatedAt")
	})
}
