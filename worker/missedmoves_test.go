package worker_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
)

// A worker that crashes after writing a move and before Temporal has it leaves a row ahead of its
// workflow. The reconcile workflow signals the order's workflow to refresh.
func TestReconcile_moveMissingFromHistory(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.waitForStartConfirmed(t, id)
		_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
			OrderID: uuid.MustParse(id), EntryID: uuid.New(), Seq: 4, Move: models.MoveDeliver, By: models.ByOperator, To: models.StatusDelivered,
			At: time.Now().UTC().Add(-time.Minute).Truncate(time.Microsecond), Delivered: &workflows.Delivered{},
		})
		require.NoError(t, err)
		require.Contains(t, s.details(t, id), "**En reparto**")
		testenv.Until(t, func() error { // the reconcile workflow skips a move until startGracePeriod has passed
			s.reconcile(t)
			if status := s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Status; status != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
				return fmt.Errorf("the workflow is %s", status)
			}
			return nil
		})
		require.Contains(t, s.details(t, id), "**Entregado**")
		s.waitForStartConfirmed(t, id)
	})
}

// A cancel of an order that was just cancelled is refused and starts no run.
func TestCancel_manyAtOnceStartNoSecondRun(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		for range 5 {
			id := s.CreateOrder(t, s.Key)
			var cancelling sync.WaitGroup
			for range 6 {
				cancelling.Go(func() {
					_, _ = s.Try(apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.Key})
				})
			}
			cancelling.Wait()
			s.waitForOrderEnd(t, id)
			testenv.Until(t, func() error {
				runs, err := s.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowId = '" + workflowOf(id) + "'"})
				if err == nil && len(runs.Executions) == 0 {
					err = errors.New("not listed yet")
				}
				if err == nil {
					require.Len(t, runs.Executions, 1)
				}
				return err
			})
		}
	})
}
