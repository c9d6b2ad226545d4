package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/operators"
	"despacho/test/testenv"
)

// Of two changes that were decided on the same row, only one is made.
func TestIfUnchanged_refusesTheSecondChange(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		operator := h.create(t, "Rauda")
		body := func(text string) *jsonbody.Object {
			in, err := jsonbody.Parse([]byte(text))
			require.NoError(t, err)
			return in
		}
		made, err := h.CreateRider(t.Context(), operator, body(`{"name":"Ana","phone":"+51987111222"}`))
		require.NoError(t, err)
		read, err := db.FindOwned[models.Rider](t.Context(), h.db, operator.ID, made.ID)
		require.NoError(t, err)
		_, err = operators.IfUnchanged(h.Service, read).ChangeRider(t.Context(), operator, made.ID, body(`{"active":false}`))
		require.NoError(t, err)
		_, err = operators.IfUnchanged(h.Service, read).ChangeRider(t.Context(), operator, made.ID, body(`{"name":"Ana Soto","active":true}`))
		require.ErrorIs(t, err, operators.ErrRowChanged)
		now, err := db.FindOwned[models.Rider](t.Context(), h.db, operator.ID, made.ID)
		require.NoError(t, err)
		require.Equal(t, []any{"Ana", false}, []any{now.Name, now.Active})
	})
}
