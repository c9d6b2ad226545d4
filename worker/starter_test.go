package worker_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"despacho/test/apptest"
	"despacho/test/poll"
)

// stalledTemporal accepts starts and never answers them.
type stalledTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (stalledTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (stalledTemporal) StartWorkflowExecution(ctx context.Context, _ *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func stalledTemporalAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, stalledTemporal{})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// A creation is answered after its commit. While Temporal does not answer, the starts wait beside
// the answers and /readyz counts them. Another process moves such an order.
func TestCreate_isAnsweredBeforeItsWorkflowIsStarted(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	stalled := s.secondProcess(t, apptest.Options{TemporalAddress: stalledTemporalAddress(t)})
	const count = 5
	var ids []string
	for range count {
		ids = append(ids, stalled.CreateOrder(t, s.Key))
	}
	poll.Until(t, func() error {
		ready := stalled.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"})
		starts, _ := ready.Data["workflow_starts"].(map[string]any)
		if starts["waiting"] != float64(count) || starts["oldest_seconds"] == float64(0) {
			return errors.New(ready.Text)
		}
		return nil
	})
	for _, id := range ids {
		s.receive(t, id)
		require.Equal(t, []string{"created", "received"}, s.moveTypes(t, id))
	}
}
