package worker_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"gorm.io/gorm"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/photos"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
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
			At: time.Now().UTC().Add(-time.Minute).Truncate(time.Microsecond), Message: models.Message{},
		})
		require.NoError(t, err)
		require.Contains(t, s.details(t, id), "**En reparto**")
		poll.Until(t, func() error { // the reconcile workflow skips a move until orders.StartGracePeriod has passed
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

// While the process that created many orders still starts their workflows, the reconcile workflow
// lists them too. One that was confirmed after it was listed is left alone.
func TestReconcile_orderConfirmedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := uuid.MustParse(s.CreateOrder(t, s.Key))
		s.waitForStartConfirmed(t, id.String())
		signals := func() (count int) {
			history := s.Temporal.GetWorkflowHistory(t.Context(), workflows.OrderWorkflowID(id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for history.HasNext() {
				event, err := history.Next()
				require.NoError(t, err)
				if event.GetEventType() == enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
					count++
				}
			}
			return count
		}
		before := signals() // of a reconcile workflow that has seen the order before it was confirmed
		require.NoError(t, s.App.Orders.ReconcileUnconfirmed(t.Context(), id))
		require.Equal(t, before, signals())
		require.NoError(t, s.App.Orders.Reconcile(t.Context(), id))
		require.Equal(t, before+1, signals(), "the running workflow is told to reload the order")
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
			poll.Until(t, func() error {
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

// answerLost is a Temporal client whose updates are carried out while their answers are lost: the
// caller gets failure instead.
type answerLost struct {
	client.Client
	failure error
}

func (c answerLost) UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	handle, err := c.Client.UpdateWorkflow(ctx, options)
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	return nil, c.failure
}

// A caller whose move was written hears of its success also when the update's answer says
// otherwise: the connection broke, or the workflow task was lost and the next one found the order
// already moved.
func TestMove_whoseAnswerIsLost(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		for name, failure := range map[string]error{
			"the connection broke":       serviceerror.NewUnavailable("connection reset"),
			"the workflow has completed": serviceerror.NewNotFound("workflow execution already completed"),
		} {
			id := uuid.MustParse(s.CreateOrder(t, s.Key))
			service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), answerLost{s.Temporal, failure}, clock.System(), slog.Default(), orders.Options{
				TaskQueue: s.Config.TaskQueue, MoveTimeout: poll.Deadline, MoveDeadline: poll.Deadline,
			})
			t.Cleanup(service.Close)
			caller := orders.Caller{Operator: &s.Operator}
			cancel := func() (*orders.View, error) {
				order, err := service.Find(t.Context(), caller, id)
				require.NoError(t, err, name)
				return service.Cancel(t.Context(), caller, order, orders.Cancellation{})
			}
			order, err := cancel()
			require.NoError(t, err, name)
			require.Equal(t, models.StatusCancelled, order.Status, name)
			_, err = cancel()
			require.ErrorIs(t, err, orders.ErrMoveRefused, name)
		}
	})
}

// connectionLost is a database that loses, once, the connection of whoever looks for a timeline
// entry.
type connectionLost struct{ lost atomic.Bool }

func (*connectionLost) Name() string { return "connection lost" }

func (c *connectionLost) Initialize(database *gorm.DB) error {
	return database.Callback().Query().Before("gorm:query").Register("connection lost", func(statement *gorm.DB) {
		if statement.Statement.Table == "order_events" && c.lost.CompareAndSwap(false, true) {
			_ = statement.AddError(driver.ErrBadConn)
		}
	})
}

// A delivery is written, its worker dies, and the next one refuses it as made already. If it cannot
// be looked up then, its outcome is not known: it is not answered as refused, and the photo stays.
func TestMove_thatCannotBeLookedUp(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		s.assign(t, id, 0)
		database, err := db.Open(t.Context(), s.Config.DatabaseURL, db.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, database.Close()) })
		require.NoError(t, database.Use(&connectionLost{}))
		stored := t.TempDir()
		store, err := photos.NewStore(photos.Options{Location: stored})
		require.NoError(t, err)
		refusal := workflows.Refusal{Move: models.MoveDeliver, Status: models.StatusDelivered}.Err()
		service := orders.New(database, db.NewCatalogCache(database), answerLost{s.Temporal, refusal}, clock.System(), slog.Default(), orders.Options{
			TaskQueue: s.Config.TaskQueue, MoveTimeout: poll.Deadline, MoveDeadline: poll.Deadline, Photos: store,
		})
		t.Cleanup(service.Close)
		var photo bytes.Buffer
		require.NoError(t, png.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8))))
		in, err := jsonbody.Parse([]byte("{}"))
		require.NoError(t, err)
		_, err = service.Deliver(t.Context(), orders.Caller{Operator: &s.Operator}, uuid.MustParse(id), in, photo.Bytes())
		require.ErrorIs(t, err, orders.ErrMoveUnconfirmed)
		order, err := s.App.DB.OrderViewByID(t.Context(), uuid.MustParse(id))
		require.NoError(t, err)
		require.Equal(t, models.StatusDelivered, order.Status)
		_, err = os.Stat(stored + "/" + *order.ProofPhoto)
		require.NoError(t, err, "the photo of the delivery is there")
	})
}
