package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/maplink"
	"despacho/models"
	"despacho/test/dbtest"
)

// A link that was replaced while it was followed gives no point.
func TestSetLinkPoint_linkThatWasReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		order, followed, replaced := dbtest.NewOrder(t, database), "https://maps.app.goo.gl/antes", "https://maps.app.goo.gl/despues"
		order.DeliveryMapsURL = &replaced
		require.NoError(t, database.Insert(t.Context(), order))
		order.DeliveryMapsURL = &followed
		a := &Activities{DB: database, Clock: clock.System()}
		require.NoError(t, a.setLinkPoint(t.Context(), order, maplink.Point{Lat: -1, Lng: -1, Source: models.PointGiven}))
		stored := dbtest.Row[models.Order](t, database, "id = ?", order.ID)
		require.Nil(t, stored.DeliveryLat)
		require.Empty(t, dbtest.Rows[models.TimelineEntry](t, database, "order_id = ?", order.ID))
	})
}
