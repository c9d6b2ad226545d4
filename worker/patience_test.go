package worker_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"despacho/internal/apptest"
)

// clockedTemporal is what stands in for a Temporal to see how long it is given for a start.
type clockedTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	given chan time.Duration
}

func (s *clockedTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *clockedTemporal) StartWorkflowExecution(ctx context.Context, _ *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	deadline, limited := ctx.Deadline()
	if !limited {
		deadline = time.Now().Add(time.Hour)
	}
	s.given <- time.Until(deadline)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

// A start gets all of the time that a creation waits for it: half of it, which is what the SDK makes of a deadline, loses starts that a busy Temporal
// was about to confirm to the next turn of the reconcile workflow.
func TestCreate_aStartHasAllTheTimeThereIs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	temporal, server := &clockedTemporal{given: make(chan time.Duration, 1)}, grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, temporal)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	s := boot(t, "", apptest.Options{TemporalAddress: listener.Addr().String(), NoWorker: true})
	answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: s.Key, Body: apptest.Order()})
	require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
	require.Greater(t, <-temporal.given, 2*time.Second)
}
