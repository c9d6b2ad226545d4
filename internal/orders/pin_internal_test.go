package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
)

func TestDeliveryPIN(t *testing.T) {
	t.Parallel()
	limit := money.Cents(10000)
	s := &Service{options: Options{UpdateIDSecret: "one"}}
	order := &models.Order{ID: uuid.New(), Status: models.StatusAssigned, AmountToCollect: limit}
	pin, needed := s.DeliveryPIN(order, models.Rules{PINOver: &limit})
	require.True(t, needed)
	require.Regexp(t, `^[0-9]{6}$`, pin)
	again, _ := s.DeliveryPIN(order, models.Rules{PINOver: &limit})
	require.Equal(t, pin, again, "it is the order's for good")

	requireNotNeeded := func(order models.Order, rules models.Rules) {
		t.Helper()
		_, needed := s.DeliveryPIN(&order, rules)
		require.False(t, needed)
	}
	requireNotNeeded(*order, models.Rules{})
	less, received := *order, *order
	less.AmountToCollect--
	received.Status = models.StatusReceived
	requireNotNeeded(less, models.Rules{PINOver: &limit})
	requireNotNeeded(received, models.Rules{PINOver: &limit})

	other := *order
	other.ID = uuid.New()
	of, _ := s.DeliveryPIN(&other, models.Rules{PINOver: &limit})
	require.NotEqual(t, pin, of)
	of, _ = (&Service{options: Options{UpdateIDSecret: "two"}}).DeliveryPIN(order, models.Rules{PINOver: &limit})
	require.NotEqual(t, pin, of, "who knows the order's id does not know it")
}
