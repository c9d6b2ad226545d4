package summarycharts_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/orders"
	"despacho/internal/panel/summarycharts"
	"despacho/models"
)

// The riders after the first twelve share a bar, which says how many they are.
func TestOf_namesTheOtherRiders(t *testing.T) {
	t.Parallel()
	for riders, label := range map[int]string{13: "Otro motorizado", 14: "Otros 2 motorizados"} {
		summary := &orders.Summary{Counts: map[models.Status]int64{models.StatusDelivered: int64(riders)}}
		for i := range riders {
			summary.Riders = append(summary.Riders, orders.RiderCount{Name: fmt.Sprintf("Motorizado %d", i), Count: 1})
		}
		cards := summarycharts.Of(summary, true, func(uuid.UUID) string { return "Miraflores, Lima" })
		require.Contains(t, cards[len(cards)-2].Drawing, label)
	}
}
