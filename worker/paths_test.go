package worker_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/internal/apptest"
	"despacho/internal/testenv"
	"despacho/models"
	"despacho/workflows"
)

// installation is one database and one task queue, with three processes that take orders: the usual one, one whose orders cancel themselves soon, and one that
// cannot reach Temporal and whose clock is three minutes late, so that what it leaves behind is overdue at once.
type installation struct {
	*service
	hasty, detached *apptest.Service
}

func newInstallation(t *testing.T) *installation {
	s := boot(t, "", apptest.Options{})
	return &installation{
		service:  s,
		hasty:    s.beside(t, apptest.Options{Configure: impatient(time.Second)}),
		detached: s.beside(t, apptest.Options{TemporalAddress: closedPort(t), Clock: behind(3 * time.Minute)}),
	}
}

// path is one way an order, or what looks after orders, can go. drive takes it to its end and names the run to look at.
type path struct {
	name  string
	drive func(t *testing.T, i *installation, s *service) (workflowID, runID string)
}

var paths = []path{
	{"life-without-webhook", driveLife},
	{"life-with-webhook", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		return driveLife(t, i, s)
	}},
	{"life-by-signals", driveLifeBySignals},
	{"cancelled-by-store", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.KeyA, personal)
		answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.KeyA, Body: map[string]any{"reason": "sin stock"}})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		return s.ended(t, id)
	}},
	{"cancelled-by-operator-in-delivery", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.Key, personal)
		s.receive(t, id)
		s.assign(t, id, 0)
		require.Equal(t, http.StatusOK, s.move(t, id, "cancel", map[string]any{"reason": "rechazado"}).Status)
		return s.ended(t, id)
	}},
	{"auto-cancelled", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := i.hasty.CreateOrder(t, s.Key, personal)
		s.waitForStatus(t, id, "cancelled")
		return s.ended(t, id)
	}},
	{"revived-in-a-new-run", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := i.hasty.CreateOrder(t, s.Key, personal)
		_, first := s.ended(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		workflowID, second := s.ended(t, id)
		require.NotEqual(t, first, second)
		return workflowID, second
	}},
	{"revived-in-the-same-run", driveRevivalWhileTelling},
	{"reassigned", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.Key, personal)
		s.receive(t, id)
		for _, rider := range []int{0, 0, 1} {
			s.assign(t, id, rider)
		}
		s.deliver(t, id)
		return s.ended(t, id)
	}},
	{"started-late", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := i.detached.CreateOrder(t, s.Key, personal)
		s.reconcileUntilStarted(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.ended(t, id)
	}},
	{"moved-before-its-start", func(t *testing.T, i *installation, s *service) (string, string) {
		id := i.detached.CreateOrder(t, s.Key, personal)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.ended(t, id)
	}},
	{"failing-receiver", func(t *testing.T, i *installation, s *service) (string, string) {
		s.Register(t, s.Key, apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
		return driveLife(t, i, s)
	}},
	{"retrying-receiver", driveRetries},
	{"cancellation-of-the-workflow", func(t *testing.T, i *installation, s *service) (string, string) {
		id := s.CreateOrder(t, s.Key, personal)
		require.NoError(t, s.Temporal.CancelWorkflow(t.Context(), workflowOf(id), ""))
		s.waitForQuiet(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		return s.ended(t, id)
	}},
	{"delivery", driveAbandonedDelivery},
	{"reconcile", func(t *testing.T, i *installation, s *service) (string, string) {
		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: s.Config.TaskQueue}, workflows.ReconcileWorkflowName)
		require.NoError(t, err)
		require.NoError(t, run.Get(t.Context(), nil))
		return run.GetID(), run.GetRunID()
	}},
}

func driveLife(t *testing.T, _ *installation, s *service) (string, string) {
	id := s.CreateOrder(t, s.KeyA, personal)
	s.waitForQuiet(t, id)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.waitForQuiet(t, id)
	s.deliver(t, id)
	return s.ended(t, id)
}

// driveLifeBySignals has a person do everything from the Temporal UI, with a few mistakes.
func driveLifeBySignals(t *testing.T, _ *installation, s *service) (string, string) {
	id := s.CreateOrder(t, s.Key, personal)
	signal := func(name string, message any) {
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", name, message))
		s.waitForQuiet(t, id)
	}
	signal(workflows.DeliveredName, map[string]any{})
	signal(workflows.CancelName, "not an object")
	signal(workflows.ReceivedName, map[string]any{})
	signal(workflows.AssignedName, map[string]any{"rider_id": uuid.New()})
	signal(workflows.AssignedName, map[string]any{"rider_id": s.Riders[0].ID})
	signal(workflows.DeliveredName, nil)
	s.waitForStatus(t, id, "delivered")
	return s.ended(t, id)
}

// driveRevivalWhileTelling has the package arrive while the receiver is still being told of the cancellation.
func driveRevivalWhileTelling(t *testing.T, i *installation, s *service) (string, string) {
	arrived, received := make(chan struct{}), make(chan struct{})
	var once sync.Once
	receiver := apptest.NewReceiver(t, func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(arrived) })
		select {
		case <-received:
		case <-time.After(soon):
		}
	})
	s.Register(t, s.Key, receiver, map[string]any{"events": []models.Event{models.EventCancelled}})
	id := i.hasty.CreateOrder(t, s.Key, personal)
	<-arrived
	s.receive(t, id)
	close(received)
	require.Equal(t, http.StatusOK, s.move(t, id, "cancel", nil).Status)
	return s.ended(t, id)
}

// driveRetries has an event wait for the one before it, whose receiver wants it again later.
func driveRetries(t *testing.T, _ *installation, s *service) (string, string) {
	var once sync.Once
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { w.WriteHeader(http.StatusServiceUnavailable) })
	})
	s.Register(t, s.Key, receiver, map[string]any{"retry": true})
	id := s.CreateOrder(t, s.Key, personal)
	receiver.WaitFor(t, 1)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.deliver(t, id)
	receiver.WaitFor(t, 4)
	return s.ended(t, id)
}

// driveAbandonedDelivery has a delivery whose order's workflow is gone.
func driveAbandonedDelivery(t *testing.T, i *installation, s *service) (string, string) {
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, s.Key, receiver)
	orderID := i.detached.CreateOrder(t, s.Key, personal)
	deliveryID := s.abandon(t, orderID)
	s.reconcile(t)
	receiver.WaitFor(t, 1)
	workflowID := workflows.DeliveryWorkflowID(deliveryID)
	return workflowID, s.waitForEnd(t, workflowID)
}

// ended waits for the end of an order's latest run.
func (s *service) ended(t *testing.T, orderID string) (workflowID, runID string) {
	t.Helper()
	return workflowOf(orderID), s.waitForEnd(t, workflowOf(orderID))
}

// abandon makes it look as if an order's workflow had been started and were gone, and returns the delivery that nobody drives now.
func (s *service) abandon(t *testing.T, orderID string) (deliveryID uuid.UUID) {
	t.Helper()
	id := uuid.MustParse(orderID)
	require.NoError(t, s.App.DB.MarkWorkflowsStarted(t.Context(), []uuid.UUID{id}, time.Now()))
	deliveries, err := s.App.DB.PendingDeliveries(t.Context(), id, nil)
	require.NoError(t, err)
	require.Len(t, deliveries, 1)
	return deliveries[0].ID
}

// reconcileUntilStarted has the reconcile workflow start an order's own.
func (s *service) reconcileUntilStarted(t *testing.T, orderID string) {
	t.Helper()
	s.reconcile(t)
	testenv.Until(t, soon, func() error {
		_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(orderID), "")
		return err
	})
}
