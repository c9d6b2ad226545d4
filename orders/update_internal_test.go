package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/workflows"
)

// A repeated request has the id of the first one. Without the secret nobody can tell from an id,
// which Temporal stores as it is, what the request says.
func TestUpdateID(t *testing.T) {
	t.Parallel()
	order := &models.Order{ID: uuid.New(), Seq: 3}
	idOf := func(secret string, cancel workflows.Cancel) string {
		return updateID(secret, order, models.ByOperator, cancel, "")
	}
	cancel := workflows.Cancel{Reason: "se mudó"}
	require.Equal(t, idOf("uno", cancel), idOf("uno", cancel))
	require.NotEqual(t, idOf("uno", cancel), idOf("uno", workflows.Cancel{Reason: "se mudo"}))
	require.NotEqual(t, idOf("uno", cancel), idOf("otro", cancel))
	moved := *order
	moved.Seq++
	require.NotEqual(t, idOf("uno", cancel), updateID("uno", &moved, models.ByOperator, cancel, ""))
}
