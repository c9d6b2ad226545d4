package orders_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/workflows"
)

// Moves whose answers were lost may be applied again in another sequence
// (temporalio/temporal#7741). Their entries tell that they were made, whatever their numbers.
func TestApply_againInAnotherSequence(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		caller := orders.Caller{Operator: &tenant.Operator}
		order, err := s.App.Orders.Find(t.Context(), caller, uuid.MustParse(s.CreateOrder(t, tenant.Key)))
		require.NoError(t, err)
		_, err = s.App.Orders.Receive(t.Context(), caller, order, nil)
		require.NoError(t, err)
		assign := func(entry uuid.UUID, seq, rider int) *workflows.ApplyMoveResult {
			result, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
				OrderID: order.ID, EntryID: entry, Seq: seq, Move: models.MoveAssign, By: models.ByOperator, To: models.StatusAssigned,
				At: time.Now().UTC().Truncate(time.Microsecond), Message: models.Message{RiderID: &tenant.Riders[rider].ID},
			})
			require.NoError(t, err)
			return result
		}
		first, second := uuid.New(), uuid.New()
		require.Nil(t, assign(first, 3, 0).Current)
		require.Nil(t, assign(second, 4, 1).Current)
		for seq, entry := range map[int]uuid.UUID{3: second, 4: first, 5: first, 6: second} {
			result := assign(entry, seq, 0)
			require.True(t, result.Written)
			require.Equal(t, 4, result.Current.Seq)
			require.Equal(t, tenant.Riders[1].ID, *result.Current.RiderID)
		}
		require.False(t, assign(uuid.New(), 3, 0).Written, "it is decided on the state of the row")
	})
}
