package panel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
	"despacho/models"
	"despacho/test/apptest"
)

// An erased order that was received late and delivered has a photo again: it is erased again. One
// that is erased is not offered.
func TestOrder_erasedAgainAfterALateReception(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		erased := tenant.Row(time.Now(), apptest.CancelledBy(models.ByAuto, ""), func(o *models.Order) {
			o.RecipientName, o.RecipientPhone, o.DeliveryAddress = models.ErasedText, models.ErasedPhone, models.ErasedText
			o.ErasedAt = &o.CreatedAt
		})
		revived := tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0), func(o *models.Order) {
			o.RecipientName, o.RecipientPhone, o.DeliveryAddress = models.ErasedText, models.ErasedPhone, models.ErasedText
			photo := photos.NameOf(o.ID)
			o.ProofPhoto = &photo
		})
		tenant.InsertRows(t, []models.Order{erased, revived})
		admin := getAs(t, s, tenant, &models.User{Admin: true})
		require.NotContains(t, admin.read("/panel/pedidos/"+erased.ID.String()).words(), "Eliminar los datos")
		require.Contains(t, admin.read("/panel/pedidos/"+revived.ID.String()).words(), "Eliminar los datos")
	})
}
