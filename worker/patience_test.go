package worker_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"despacho/internal/apptest"
	"despacho/internal/config"
	"despacho/internal/testenv"
)

// silentTemporal stands in for a Temporal that is too busy to answer a start.
type silentTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	starts atomic.Int32
}

func (s *silentTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *silentTemporal) StartWorkflowExecution(ctx context.Context, _ *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.starts.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// A start gets all of the time that a creation waits for it, in one call: half of it and a second call, which is what the SDK makes of a deadline, loses
// starts that a busy Temporal was about to confirm to the next turn of the reconcile workflow.
func TestCreate_aStartHasAllTheTimeThereIs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	temporal, server := &silentTemporal{}, grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, temporal)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	s := boot(t, "", apptest.Options{
		TemporalAddress: listener.Addr().String(), NoWorker: true,
		Configure: func(c *config.Config) { c.Timeouts.Start = time.Second },
	})
	testenv.Until(t, func() error {
		before := temporal.starts.Load()
		s.CreateOrder(t, s.Key)
		calls := temporal.starts.Load() - before
		if calls == 0 {
			return errors.New("a slow machine gave up before the call")
		}
		require.EqualValues(t, 1, calls)
		return nil
	})
}
