package orders

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"despacho/models"
	"despacho/workflows"
)

// A repeated request has the id of the first one. Without the secret nobody can tell from an id,
// which Temporal stores as it is, what the request says.
func TestUpdateID(t *testing.T) {
	t.Parallel()
	order := &models.Order{ID: uuid.New(), Seq: 3}
	idOf := func(secret string, cancel models.Message) string {
		return updateID(secret, order, models.ByOperator, cancel, "")
	}
	cancel := models.Message{Move: models.MoveCancel, Reason: "se mudó"}
	require.Equal(t, idOf("uno", cancel), idOf("uno", cancel))
	require.NotEqual(t, idOf("uno", cancel), idOf("uno", models.Message{Move: models.MoveCancel, Reason: "se mudo"}))
	require.NotEqual(t, idOf("uno", cancel), idOf("otro", cancel))
	moved := *order
	moved.Seq++
	require.NotEqual(t, idOf("uno", cancel), updateID("uno", &moved, models.ByOperator, cancel, ""))
}

// A move goes on for as long as its requester waits while Temporal does not answer or is too busy,
// also if the update was to start the workflow. Any other error is an answer.
func TestIsUnanswered(t *testing.T) {
	t.Parallel()
	for _, unanswered := range []error{
		client.NewWorkflowUpdateServiceTimeoutOrCanceledError(errors.New("a minute is over")),
		serviceerror.NewDeadlineExceeded("the server was too slow"),
		serviceerror.NewUnavailable("the shard has no owner"),
		serviceerror.NewResourceExhausted(enums.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW, "workflow is busy"),
	} {
		require.True(t, isWithoutOutcome(unanswered), unanswered)
		require.True(t, isWithoutOutcome(fmt.Errorf("failed workflow update: %w", unanswered)), unanswered)
	}
	for _, answered := range []error{
		nil,
		serviceerror.NewNotFound("no such workflow"),
		serviceerror.NewInvalidArgument("the update has no name"),
		workflows.Refusal{Move: models.MoveReceive}.Err(),
	} {
		require.False(t, isWithoutOutcome(answered), answered)
	}
}
