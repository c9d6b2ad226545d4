package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// namespaceName is a namespace of one test's own.
func namespaceName() string { return "despacho-" + uuid.NewString() }

// registerNamespace creates a namespace with the given keyword attributes and returns when they can
// be used: the server reads its list of namespaces every few seconds.
func registerNamespace(t *testing.T, temporal client.Client, namespace string, attributes ...string) {
	t.Helper()
	_, err := temporal.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	require.NoError(t, err)
	if len(attributes) == 0 {
		return
	}
	keywords := map[string]enums.IndexedValueType{}
	for _, name := range attributes {
		keywords[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	poll.Until(t, func() error {
		_, err := temporal.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: keywords})
		return err
	})
	poll.Until(t, func() error {
		_, err := temporal.WorkflowService().CountWorkflowExecutions(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: namespace, Query: attributes[0] + " IS NULL",
		})
		return err
	})
}

// sharedTemporal is a client of the tests' Temporal server.
func sharedTemporal(t *testing.T) client.Client {
	t.Helper()
	temporal, err := client.NewLazyClient(client.Options{HostPort: testenv.Temporal(t)})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	return temporal
}

// While the namespace does not exist, orders are created and read and moves are answered 503. Once
// it does, everything works without a restart.
func TestNamespace_notReady(t *testing.T) {
	t.Parallel()
	namespace := namespaceName()
	s := boot(t, "", apptest.Options{Namespace: namespace, NoWorker: true, Configure: func(c *config.Config) { c.Timeouts.Move = 20 * time.Second }})
	ctx, stop := context.WithCancel(context.Background())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.App.RunWorker(ctx, func() { close(started) }) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	id := s.CreateOrder(t, s.Key)
	require.Equal(t, "registered", s.order(t, id).String("status"))
	answer := s.move(t, id, "receive", nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)

	registerNamespace(t, sharedTemporal(t), namespace)
	select {
	case <-started:
	case err := <-ended:
		t.Fatalf("the worker ended: %v", err)
	case <-time.After(poll.Deadline):
		t.Fatal("the worker does not start")
	}
	poll.Until(t, func() error {
		if answer := s.move(t, id, "receive", nil); answer.Status != http.StatusOK {
			return fmt.Errorf("%d %s", answer.Status, answer.Text)
		}
		return nil
	})
	present, err := s.Temporal.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	require.NoError(t, err)
	for name := range workflows.SearchAttributes() {
		require.Contains(t, present.CustomAttributes, name)
	}
}

// A namespace whose keywords are used up cannot have the orders' search attributes: orders start
// and move without them.
func TestNamespace_withoutRoomForSearchAttributes(t *testing.T) {
	t.Parallel()
	namespace := namespaceName()
	var others []string
	for i := range 10 {
		others = append(others, fmt.Sprintf("Other%02d", i))
	}
	registerNamespace(t, sharedTemporal(t), namespace, others...)
	s := boot(t, "", apptest.Options{Namespace: namespace})
	present, err := s.Temporal.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	require.NoError(t, err)
	require.NotContains(t, present.CustomAttributes, workflows.GuideCodeAttribute.GetName())

	id := s.CreateOrder(t, s.Key)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Status, "the creation starts it")
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "by hand"))
	s.receive(t, id) // an update with a start

	detached := s.withoutTemporal(t, time.Minute)
	late := detached.CreateOrder(t, s.Key)
	s.reconcileUntilStarted(t, late)
	s.receive(t, late)
	s.assign(t, late, 0)
	s.deliver(t, late)
	s.waitForOrderEnd(t, late)
}

// A search attribute that an administrator removes does not keep a run from continuing as a new
// one. Here the size of the messages makes it continue.
func TestNamespace_searchAttributeRemoved(t *testing.T) {
	t.Parallel()
	namespace := namespaceName()
	registerNamespace(t, sharedTemporal(t), namespace)
	s := boot(t, "", apptest.Options{Namespace: namespace})
	var id string
	poll.Until(t, func() error { // until the new attributes are known to the server
		id = s.CreateOrder(t, s.Key)
		if len(s.describe(t, workflowOf(id)).WorkflowExecutionInfo.SearchAttributes.GetIndexedFields()) < 2 {
			return fmt.Errorf("no search attributes yet")
		}
		return nil
	})
	first := s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Execution.RunId
	_, err := s.Temporal.OperatorService().RemoveSearchAttributes(t.Context(), &operatorservice.RemoveSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: []string{workflows.GuideCodeAttribute.GetName()},
	})
	require.NoError(t, err)
	poll.Until(t, func() error {
		_, err := s.Temporal.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: workflows.GuideCodeAttribute.GetName() + " IS NULL"})
		if err == nil {
			return fmt.Errorf("the attribute is still there")
		}
		return nil
	})
	s.sendLargeSignals(t, id)
	s.receive(t, id)
	s.assign(t, id, 0)
	require.NotEqual(t, first, s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Execution.RunId, "the run continued as a new one")
	s.deliver(t, id)
	s.waitForOrderEnd(t, id)
}

// sendLargeSignals sends signals just below the server's limit of 2 MB, more of them than a history
// should hold.
func (s *service) sendLargeSignals(t *testing.T, orderID string) {
	t.Helper()
	content := rawJSON(`{"reason":"` + strings.Repeat("x", 1_900_000) + `"}`)
	for _, name := range []string{workflows.CancelName, "unknown", workflows.DeliveredName, workflows.CancelName} {
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(orderID), "", name, content))
	}
	s.waitForIdle(t, orderID)
}
