package operators_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// A change is refused by the check of the row that it would change, and then changes nothing.
func TestChange_isRefusedByTheCheckOfItsRow(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		operator := h.create(t, "Rauda")
		body := func(text string) *jsonbody.Object {
			in, err := jsonbody.Parse([]byte(text))
			require.NoError(t, err)
			return in
		}
		made, err := h.Riders().Create(t.Context(), operator, body(`{"name":"Ana","phone":"+51987111222"}`))
		require.NoError(t, err)
		refusal := errors.New("inactive")
		ifActive := func(rider *models.Rider) error {
			if !rider.Active {
				return refusal
			}
			return nil
		}
		_, err = h.Riders().Change(t.Context(), operator, made.ID, body(`{"active":false}`), ifActive)
		require.NoError(t, err)
		_, err = h.Riders().Change(t.Context(), operator, made.ID, body(`{"name":"Ana Soto","active":true}`), ifActive)
		require.ErrorIs(t, err, refusal)
		now := dbtest.Row[models.Rider](t, h.db, "id = ?", made.ID)
		require.Equal(t, []any{"Ana", false}, []any{now.Name, now.Active})
	})
}
