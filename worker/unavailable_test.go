package worker_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/closedport"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// Without workers moves return 503, while orders can be created and read. Afterwards moves work
// again, and the outcome of the unconfirmed ones can be read.
func TestUnavailable_workersDownAndBack(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	hasty := s.secondProcess(t, apptest.Options{Configure: shortMoveTimeout})
	orders := []string{s.CreateOrder(t, s.KeyA), s.CreateOrder(t, s.KeyA), s.CreateOrder(t, s.KeyA)}
	for _, id := range orders {
		s.waitForIdle(t, id)
	}
	s.receive(t, orders[1])
	s.StopWorker()

	requests := []apptest.Request{
		{Method: http.MethodPatch, Path: "/v1/orders/" + orders[0] + "/cancel", Key: s.KeyA},
		moveRequest(s, orders[1], "assign", map[string]any{"rider_id": s.Riders[0].ID}),
		moveRequest(s, orders[2], "receive", nil),
	}
	answers := allAtOnce(hasty, requests)
	created := s.CreateOrder(t, s.KeyA)
	require.Equal(t, "registered", s.order(t, created).String("status"))
	for range requests {
		requireUnconfirmed(t, <-answers)
	}
	require.Equal(t, "registered", s.order(t, orders[0]).String("status"), "nothing happened yet")

	s.StartWorker(t)
	s.receive(t, created)
	for i, id := range orders {
		s.waitForIdle(t, id)
		before := []string{"registered", "received", "registered"}[i]
		after := []string{"cancelled", "assigned", "received"}[i]
		status := s.order(t, id).String("status")
		require.Contains(t, []string{before, after}, status)
		if status == before {
			again := s.Do(t, requests[i])
			require.Equal(t, http.StatusOK, again.Status, again.Text)
		}
		require.Equal(t, after, s.order(t, id).String("status"))
	}
	s.waitForOrderEnd(t, orders[0])
}

// Without Temporal orders can be created and read, but not moved.
func TestUnavailable_temporalUnreachable(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{TemporalAddress: closedport.Address(t), NoWorker: true, Configure: func(c *config.Config) {
		c.Timeouts.Move = time.Second
	}})
	id := s.CreateOrder(t, s.Key)
	require.Equal(t, "registered", s.order(t, id).String("status"))

	ready := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"})
	require.Equal(t, http.StatusOK, ready.Status)
	require.Equal(t, "ok", ready.Data["database"])
	require.Equal(t, "unreachable", ready.Data["temporal"])
	requireUnconfirmed(t, <-allAtOnce(s.Service, []apptest.Request{moveRequest(s, id, "receive", nil)}))
	require.Equal(t, "registered", s.order(t, id).String("status"))
}

// A new worker continues an order by replaying its history.
func TestUnavailable_workerReplacedBetweenMoves(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	id := s.CreateOrder(t, s.Key)
	for _, move := range []func(){
		func() { s.receive(t, id) }, func() { s.assign(t, id, 0) }, func() { s.assign(t, id, 1) }, func() { s.deliver(t, id) },
	} {
		s.waitForIdle(t, id)
		s.StopWorker()
		s.StartWorker(t)
		move()
	}
	require.Equal(t, []string{"created", "received", "assigned", "assigned", "delivered"}, s.moveTypes(t, id))
	s.waitForOrderEnd(t, id)
}

// After a worker crashes without closing its connections, another one takes over its runs.
// TestWorkerOptions_stickyTimeoutBelowMoveTimeout checks how soon.
func TestUnavailable_workerDiesWhileAnotherIsUp(t *testing.T) {
	t.Parallel()
	line := newTCPProxy(t, testenv.Temporal(t))
	s := boot(t, "", apptest.Options{TemporalAddress: line.Addr().String()})
	other := s.secondProcess(t, apptest.Options{})
	deleteSchedule(t, other)
	var ids []string
	for range 5 {
		ids = append(ids, s.CreateOrder(t, s.Key))
	}
	for _, id := range ids {
		s.waitForIdle(t, id)
	}
	line.cut()
	other.StartWorker(t)
	s.Service = other
	// The last order's task may have been in transit when the connection was cut.
	var requests []apptest.Request
	for _, id := range ids[:len(ids)-1] {
		requests = append(requests, moveRequest(s, id, "receive", nil))
	}
	answers := allAtOnce(other, requests)
	for range requests {
		answer := <-answers
		require.NoError(t, answer.err)
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	}
}

// A worker that dies with an order's workflow task, or a task that Temporal loses on its way to
// one, is not the end of the order's moves: another worker gets it when its timeout is over.
func TestUnavailable_workerDiesWithATask(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
		c.Timeouts.WorkflowTask = time.Second
	}})
	id := s.startedOrder(t, s.Key)
	poll.Until(t, func() error {
		task, err := s.Temporal.WorkflowService().PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{
			Namespace: client.DefaultNamespace, TaskQueue: &taskqueue.TaskQueue{Name: s.Config.TaskQueue}, Identity: "dies",
		})
		if err == nil && task.WorkflowExecution.GetWorkflowId() != workflowOf(id) {
			err = errors.New("no task yet")
		}
		return err
	})
	s.StartWorker(t)
	s.receive(t, id)
	events := s.historyOf(t, workflowOf(id), "").Events
	require.Equal(t, s.Config.Timeouts.WorkflowTask, events[0].GetWorkflowExecutionStartedEventAttributes().WorkflowTaskTimeout.AsDuration())
	require.True(t, slices.ContainsFunc(events, func(event *history.HistoryEvent) bool {
		return event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT
	}), "the task was lost")
}

// tcpProxy is a connection that can be cut, or fall silent.
type tcpProxy struct {
	net.Listener
	mu   sync.Mutex
	ends []net.Conn
	// silences counts the calls of silence.
	silences atomic.Int64
}

func newTCPProxy(t *testing.T, to string) *tcpProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &tcpProxy{Listener: listener}
	t.Cleanup(c.cut)
	go c.forward(to)
	return c
}

func (c *tcpProxy) forward(to string) {
	for {
		near, err := c.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", to)
		if err != nil {
			near.Close()
			continue
		}
		c.mu.Lock()
		c.ends = append(c.ends, near, far)
		c.mu.Unlock()
		accepted := c.silences.Load()
		go func() { _, _ = io.Copy(oneWay{near, c, accepted}, far) }()
		go func() { _, _ = io.Copy(oneWay{far, c, accepted}, near) }()
	}
}

// oneWay is one direction of a connection that was accepted after so many silences.
type oneWay struct {
	io.Writer
	proxy    *tcpProxy
	accepted int64
}

// Write passes data on, or loses it.
func (w oneWay) Write(data []byte) (int, error) {
	if w.proxy.silences.Load() > w.accepted {
		return len(data), nil
	}
	return w.Writer.Write(data)
}

// silence makes the connections lose all data from now on, as those to a machine that has lost its
// power do. New connections are served.
func (c *tcpProxy) silence() { c.silences.Add(1) }

func (c *tcpProxy) cut() {
	c.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.ends {
		end.Close()
	}
}

// Signals sent before the first workflow task are all handled: a full lifecycle by signals.
func TestUnavailable_signalsBeforeTheFirstTask(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	id := s.startedOrder(t, s.Key)
	for _, signal := range []struct {
		name    string
		message any
	}{
		{"received", map[string]any{}}, {"assigned", map[string]any{"rider_id": s.Riders[1].ID}}, {"delivered", nil},
	} {
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", signal.name, signal.message))
	}
	s.StartWorker(t)
	order := s.waitForStatus(t, id, "delivered")
	require.Equal(t, s.Riders[1].Name, order.Data["rider"].(map[string]any)["name"])
	require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	_, runID := s.waitForOrderEnd(t, id)
	tasks := 0
	for _, event := range s.historyOf(t, workflowOf(id), runID).Events {
		if event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks++
		}
	}
	require.Equal(t, 1, tasks)
}
