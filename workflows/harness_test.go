package workflows_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"despacho/models"
	"despacho/test/poll"
	"despacho/workflows"
)

// start is the creation time of every order and the start time of its workflow. It is in the
// future: the test environment ends a local activity whose timeout lies in the past of the real
// clock.
var start = time.Date(2060, time.March, 2, 9, 0, 0, 0, time.UTC)

// decisionTime is how long somebody may decide after a failed attempt.
const decisionTime = 24 * time.Hour

// runTimeout is the workflow run timeout; it ends a run that does not complete.
const runTimeout = 30 * 24 * time.Hour

var riderA, riderB = uuid.MustParse("00000000-0000-4000-8000-00000000000a"), uuid.MustParse("00000000-0000-4000-8000-00000000000b")

// harness runs one order workflow in the test environment, with fakes of the database and the
// webhook receivers.
type harness struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	orderID uuid.UUID
	log     logBuffer

	// webhooks are subscribed to every event.
	webhooks []webhook
	// beforeLoad and beforeWrite run before the fake database; a non-nil result replaces its
	// result.
	beforeLoad  func() error
	beforeWrite func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error)
	// receive handles a webhook call; nil accepts every call at once.
	receive func(webhookCall) error

	mu     sync.Mutex
	stored workflows.Snapshot
	// before is the state before the latest move, failures counts the failed attempts.
	before   models.State
	failures int
	written  []workflows.ApplyMoveInput
	attempts []workflows.ApplyMoveInput
	calls    map[uuid.UUID]webhookCall
	sent     []webhookCall
}

// webhook identifies a webhook.
type webhook uuid.UUID

// webhookCall is the first attempt at a webhook call.
type webhookCall struct {
	workflows.WebhookCall
	webhook webhook
	at      time.Duration
	token   []byte
}

// newHarness returns a harness for an order in the given state.
func newHarness(t *testing.T, state models.State) *harness {
	t.Helper()
	s := &harness{t: t, orderID: uuid.New(), calls: map[uuid.UUID]webhookCall{}}
	s.stored = workflows.Snapshot{
		State: state, Seq: 1, GuideCode: "7K2QX-M4TN8C", AutoCancelAt: start.Add(24 * time.Hour),
	}
	s.env = newEnvironment(&s.log)
	for name, function := range map[string]any{
		workflows.LoadOrderActivity: s.loadOrder, workflows.ApplyMoveActivity: s.applyMove, workflows.CallWebhookActivity: s.callWebhook,
	} {
		s.env.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
	return s
}

func newEnvironment(log *logBuffer) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(log, nil))))
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(start)
	env.SetTestTimeout(poll.Deadline)
	env.SetWorkflowRunTimeout(runTimeout)
	env.SetWorkerOptions(worker.Options{
		DeadlockDetectionTimeout: poll.Deadline, Interceptors: []interceptor.WorkerInterceptor{&workflows.SignalOrder{}},
	})
	return env
}

var registered = models.State{Status: models.StatusRegistered}

// run executes the workflow with a snapshot, as a creation does, and reports whether it completed.
func (s *harness) run() (ended bool) {
	s.t.Helper()
	snapshot := s.stored
	return s.execute(&snapshot)
}

// runLoaded executes the workflow without a snapshot, as a late start or a revival does.
func (s *harness) runLoaded() (ended bool) {
	s.t.Helper()
	return s.execute(nil)
}

func (s *harness) execute(snapshot *workflows.Snapshot) (ended bool) {
	s.t.Helper()
	s.env.ExecuteWorkflow(workflows.Order, workflows.OrderInput{OrderID: s.orderID, Snapshot: snapshot})
	require.True(s.t, s.env.IsWorkflowCompleted())
	require.NotContains(s.t, s.log.String(), "unhandled signals", "a message was left behind")
	require.NotContains(s.t, s.log.String(), "update handler is still running", "a message was left behind")
	err := s.env.GetWorkflowError()
	var timeout *temporal.TimeoutError
	if err != nil {
		require.ErrorAs(s.t, err, &timeout, "an order's workflow never fails")
	}
	return err == nil
}

// at runs a callback at a time after the start.
func (s *harness) at(after time.Duration, do func()) { s.env.RegisterDelayedCallback(do, after) }

// beforeReply is for the fakes: what do sends reaches the workflow before the fake's reply.
func (s *harness) beforeReply(do func()) {
	sent := make(chan struct{})
	s.env.RegisterDelayedCallback(func() {
		do()
		close(sent)
	}, 0)
	<-sent
}

func (s *harness) signal(name string, message any) { s.env.SignalWorkflow(name, message) }

// reply is the outcome of an update.
type updateResult struct {
	accepted, done bool
	err            error
}

func (s *harness) update(name string, message any) *updateResult {
	r := &updateResult{}
	s.env.UpdateWorkflow(name, uuid.NewString(), &testsuite.TestUpdateCallback{
		OnAccept:   func() { r.accepted = true },
		OnReject:   func(err error) { r.done, r.err = true, err },
		OnComplete: func(_ any, err error) { r.done, r.err = true, err },
	}, message)
	return r
}

// requireRefused checks that an update was refused, with the given move and status.
func (r *updateResult) requireRefused(t *testing.T, move models.Move, status models.Status) {
	t.Helper()
	require.True(t, r.done, "the update was not answered")
	refusal, refused := workflows.AsRefusal(r.err)
	require.True(t, refused, "%v", r.err)
	require.Equal(t, workflows.Refusal{Move: move, Status: status}, refusal)
}

func (r *updateResult) requireDone(t *testing.T) {
	t.Helper()
	require.True(t, r.done, "the update was not answered")
	require.NoError(t, r.err)
}

// details returns the workflow's current details.
func (s *harness) details() string {
	s.t.Helper()
	value, err := s.env.QueryWorkflow("__temporal_workflow_metadata")
	require.NoError(s.t, err)
	var metadata sdk.WorkflowMetadata
	require.NoError(s.t, value.Get(&metadata))
	return metadata.CurrentDetails
}

func (s *harness) loadOrder(context.Context, uuid.UUID) (*workflows.Snapshot, error) {
	if s.beforeLoad != nil {
		if err := s.beforeLoad(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	snapshot := s.stored
	return &snapshot, nil
}

func (s *harness) applyMove(_ context.Context, move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
	move.Message.Move = "" // it is not on the wire
	s.mu.Lock()
	s.attempts = append(s.attempts, move)
	s.mu.Unlock()
	if s.beforeWrite != nil {
		if result, err := s.beforeWrite(move); result != nil || err != nil {
			return result, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = append(s.written, move)
	result := s.write(move)
	for _, event := range move.Move.Events() {
		result.Calls = append(result.Calls, s.addCalls(event)...)
	}
	return result, nil
}

// write makes a move in the stored order.
func (s *harness) write(move workflows.ApplyMoveInput) *workflows.ApplyMoveResult {
	before, message := s.stored.State, move.Message
	message.Move = move.Move
	s.stored.State, _ = before.Decide(move.Move, move.By, message.Rider())
	s.stored.Seq = move.Seq
	result := &workflows.ApplyMoveResult{}
	if move.Move == models.MoveUndo {
		s.stored.State = s.before
		result.Written = true
	}
	s.before = before
	switch {
	case !s.stored.Substatus.Undecided():
		s.stored.Decision = nil
	case move.Move == models.MoveFail:
		s.failures++
		s.stored.Decision = &workflows.Decision{Due: move.At.Add(decisionTime), Move: models.Rules{}.NextStep(s.failures)}
	}
	result.Decision = s.stored.Decision
	if result.Written {
		current := s.stored
		current.Calls = nil
		result.Current = &current
	}
	return result
}

// addCalls creates the webhook calls of an event, one for each webhook.
func (s *harness) addCalls(event models.Event) []workflows.WebhookCall {
	var calls []workflows.WebhookCall
	for _, hook := range s.webhooks {
		call := workflows.WebhookCall{ID: uuid.New(), Event: event, Host: "tienda.example"}
		s.calls[call.ID] = webhookCall{WebhookCall: call, webhook: hook}
		calls = append(calls, call)
	}
	return calls
}

func (s *harness) callWebhook(ctx context.Context, id uuid.UUID) (string, error) {
	s.mu.Lock()
	call := s.calls[id]
	call.at, call.token = s.env.Now().Sub(start), activity.GetInfo(ctx).TaskToken
	s.sent = append(s.sent, call)
	s.mu.Unlock()
	if s.receive != nil {
		return "", s.receive(call)
	}
	return "delivered", nil
}

// moves lists the written moves in order.
func (s *harness) moves() []models.Move {
	moves := []models.Move{}
	for _, move := range s.written {
		moves = append(moves, move.Move)
	}
	return moves
}

// events lists the events of the webhook calls in order.
func (s *harness) events() []models.Event {
	events := []models.Event{}
	for _, call := range s.sent {
		events = append(events, call.Event)
	}
	return events
}

// logBuffer collects the workflow's log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *logBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *logBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
