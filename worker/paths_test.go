package worker_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/workflows"
)

// installation is one database and one task queue with several processes: the regular one, one with
// a short auto-cancel, and two that cannot reach Temporal, one of them with a clock a minute
// behind, so that its orders are reconciled at once.
type installation struct {
	*service
	hasty, detached, detachedLate *apptest.Service
}

func newInstallation(t *testing.T) *installation {
	s := boot(t, "", apptest.Options{})
	return &installation{
		service:      s,
		hasty:        s.secondProcess(t, apptest.Options{Configure: withAutoCancelAfter(time.Second)}),
		detached:     s.withoutTemporal(t, 0),
		detachedLate: s.withoutTemporal(t, time.Minute),
	}
}

// path is one way through a workflow. drive executes it to completion and returns the run.
type path struct {
	name  string
	drive func(t *testing.T, i *installation, s *service) (workflowID, runID string)
}

var paths = []path{
	{"life-without-webhook", driveLifecycle},
	{"life-with-webhook", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		return driveLifecycle(t, i, s)
	}},
	{"life-by-signals", driveLifecycleBySignals},
	{"cancelled-by-store", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.KeyA, personalData)
		answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.KeyA, Body: map[string]any{"reason": "sin stock"}})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		return s.waitForOrderEnd(t, id)
	}},
	{"cancelled-by-operator-in-delivery", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.Key, personalData)
		s.receive(t, id)
		s.assign(t, id, 0)
		require.Equal(t, http.StatusOK, s.move(t, id, "cancel", map[string]any{"reason": "rechazado"}).Status)
		return s.waitForOrderEnd(t, id)
	}},
	{"auto-cancelled", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := i.hasty.CreateOrder(t, s.Key, personalData)
		s.waitForStatus(t, id, "cancelled")
		return s.waitForOrderEnd(t, id)
	}},
	{"revived-in-a-new-run", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := i.hasty.CreateOrder(t, s.Key, personalData)
		_, first := s.waitForOrderEnd(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		workflowID, second := s.waitForOrderEnd(t, id)
		require.NotEqual(t, first, second)
		return workflowID, second
	}},
	{"revived-in-the-same-run", driveRevivalDuringDelivery},
	{"reassigned", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.Key, personalData)
		s.receive(t, id)
		for _, rider := range []int{0, 0, 1} {
			s.assign(t, id, rider)
		}
		s.deliver(t, id)
		return s.waitForOrderEnd(t, id)
	}},
	{"started-late", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := i.detachedLate.CreateOrder(t, s.Key, personalData)
		s.reconcileUntilStarted(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.waitForOrderEnd(t, id)
	}},
	{"moved-before-its-start", func(t *testing.T, i *installation, s *service) (string, string) {
		id := i.detached.CreateOrder(t, s.Key, personalData)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.waitForOrderEnd(t, id)
	}},
	{"asked-about-beside", func(t *testing.T, i *installation, s *service) (string, string) {
		id := i.detached.CreateOrder(t, s.Key, personalData)
		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflowOf(id), TaskQueue: s.Config.TaskQueue},
			workflows.OrderWorkflowName, workflows.OrderInput{OrderID: uuid.MustParse(id), Snapshot: &workflows.Snapshot{
				State: models.State{Status: models.StatusRegistered}, Seq: 1, AutoCancelAt: time.Now().Add(time.Hour), ResolveMapLink: true, VerifyIdentity: true,
			}})
		require.NoError(t, err)
		s.waitForIdle(t, id)
		require.Equal(t, http.StatusOK, s.move(t, id, "cancel", nil).Status)
		_, runID := s.waitForOrderEnd(t, id)
		require.Equal(t, run.GetRunID(), runID)
		return run.GetID(), runID
	}},
	{"failed-then-delivered", func(t *testing.T, i *installation, s *service) (string, string) {
		return s.drive(t, "receive", "assign", "fail", "retry", "receive", "assign", "deliver")
	}},
	{"failed-again-on-the-same-trip", func(t *testing.T, i *installation, s *service) (string, string) {
		return s.drive(t, "receive", "assign", "fail", "fail", "deliver")
	}},
	{"decided-by-nobody", func(t *testing.T, i *installation, s *service) (string, string) {
		return s.drive(t, "receive", "assign", "fail", "wait", "assign", "deliver")
	}},
	{"brought-back", func(t *testing.T, i *installation, s *service) (string, string) {
		return s.drive(t, "receive", "assign", "receive", "assign", "deliver")
	}},
	{"returned", func(t *testing.T, i *installation, s *service) (string, string) {
		return s.drive(t, "receive", "assign", "fail", "return", "receive", "hand-back")
	}},
	{"undone", func(t *testing.T, i *installation, s *service) (string, string) {
		return s.drive(t, "receive", "undo", "receive", "assign", "undo", "assign", "fail", "undo", "deliver")
	}},
	{"delivery-undone-in-a-new-run", func(t *testing.T, i *installation, s *service) (string, string) {
		s.withAllEvents(t)
		id := s.CreateOrder(t, s.Key, personalData)
		s.make(t, id, "receive", "assign", "deliver")
		_, first := s.waitForOrderEnd(t, id)
		s.make(t, id, "undo", "deliver")
		workflowID, second := s.waitForOrderEnd(t, id)
		require.NotEqual(t, first, second)
		return workflowID, second
	}},
	{"continued-with-a-pending-decision", func(t *testing.T, i *installation, s *service) (string, string) {
		s.withAllEvents(t)
		id := s.CreateOrder(t, s.Key, personalData)
		s.make(t, id, "receive", "assign", "fail")
		s.continueAsNew(t, id)
		s.make(t, id, "wait", "assign", "deliver")
		return s.waitForOrderEnd(t, id)
	}},
	{"failing-receiver", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
		return driveLifecycle(t, i, s)
	}},
	{"retrying-receiver", driveRetries},
	{"cancellation-of-the-workflow", func(t *testing.T, i *installation, s *service) (string, string) {
		id := s.startedOrder(t, s.Key, personalData)
		require.NoError(t, s.Temporal.CancelWorkflow(t.Context(), workflowOf(id), ""))
		s.waitForIdle(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.waitForOrderEnd(t, id)
	}},
	{"continued", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.Key)
		s.continueAsNew(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.waitForOrderEnd(t, id)
	}},
	{"simulation", func(t *testing.T, i *installation, s *service) (string, string) {
		id, advance := s.newTestOrder(t)
		for range 4 {
			require.Equal(t, http.StatusOK, advance().Status)
		}
		return simulationOf(id), s.waitForEnd(t, simulationOf(id))
	}},
	{"reconcile", func(t *testing.T, i *installation, s *service) (string, string) {
		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: s.Config.TaskQueue}, workflows.ReconcileWorkflowName)
		require.NoError(t, err)
		require.NoError(t, run.Get(t.Context(), nil))
		return run.GetID(), run.GetRunID()
	}},
}

func driveLifecycle(t *testing.T, _ *installation, s *service) (string, string) {
	id := s.CreateOrder(t, s.KeyA, personalData)
	s.waitForIdle(t, id)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.waitForIdle(t, id)
	s.deliver(t, id)
	return s.waitForOrderEnd(t, id)
}

// driveLifecycleBySignals sends every move as a signal, including invalid ones.
func driveLifecycleBySignals(t *testing.T, _ *installation, s *service) (string, string) {
	id := s.startedOrder(t, s.Key, personalData)
	signal := func(name string, message any) {
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", name, message))
		s.waitForIdle(t, id)
	}
	signal(workflows.DeliveredName, map[string]any{})
	signal(workflows.CancelName, "not an object")
	signal(workflows.ReceivedName, map[string]any{})
	signal(workflows.AssignedName, map[string]any{"rider_id": uuid.New()})
	signal(workflows.AssignedName, map[string]any{"rider_id": s.Riders[0].ID})
	signal(workflows.DeliveredName, nil)
	s.waitForStatus(t, id, "delivered")
	return s.waitForOrderEnd(t, id)
}

// driveRevivalDuringDelivery receives the package while order.cancelled is being delivered.
func driveRevivalDuringDelivery(t *testing.T, i *installation, s *service) (string, string) {
	arrived, received := make(chan struct{}), make(chan struct{})
	var once sync.Once
	receiver := apptest.NewReceiver(t, func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(arrived) })
		select {
		case <-received:
		case <-time.After(idleDeadline):
		}
	})
	s.Register(t, s.Key, receiver, map[string]any{"events": []models.Event{models.EventCancelled}})
	id := i.hasty.CreateOrder(t, s.Key, personalData)
	<-arrived
	s.receive(t, id)
	close(received)
	require.Equal(t, http.StatusOK, s.move(t, id, "cancel", nil).Status)
	return s.waitForOrderEnd(t, id)
}

// driveRetries has events of which the first is retried, by the queue.
func driveRetries(t *testing.T, _ *installation, s *service) (string, string) {
	var once sync.Once
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { w.WriteHeader(http.StatusServiceUnavailable) })
	})
	s.Register(t, s.Key, receiver, map[string]any{"retry": true})
	id := s.CreateOrder(t, s.Key, personalData)
	receiver.WaitFor(t, 1)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.deliver(t, id)
	receiver.WaitFor(t, 4)
	return s.waitForOrderEnd(t, id)
}

// waitForOrderEnd waits until an order's latest run has completed.
func (s *service) waitForOrderEnd(t *testing.T, orderID string) (workflowID, runID string) {
	t.Helper()
	return workflowOf(orderID), s.waitForEnd(t, workflowOf(orderID))
}

// reconcileUntilStarted runs the reconcile workflow until it has started an order's workflow.
func (s *service) reconcileUntilStarted(t *testing.T, orderID string) {
	t.Helper()
	s.reconcile(t)
	s.describe(t, workflowOf(orderID))
}
