package worker_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// fakeTemporal records the timeout of a start request.
type fakeTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	given chan time.Duration
}

func (s *fakeTemporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *fakeTemporal) StartWorkflowExecution(ctx context.Context, _ *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	deadline, limited := ctx.Deadline()
	if !limited {
		deadline = time.Now().Add(time.Hour)
	}
	s.given <- time.Until(deadline)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

// A start gets the whole start timeout. With a deadline the SDK would use half of it for the call,
// and starts that a busy Temporal was about to confirm would be left to the reconcile workflow. The
// SDK sends the timeout with the call; without a deadline it is 10 seconds.
func TestCreate_startGetsTheWholeTimeout(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	temporal, server := &fakeTemporal{given: make(chan time.Duration, 100)}, grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, temporal)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	const start = 3 * time.Second
	s := boot(t, "", apptest.Options{
		TemporalAddress: listener.Addr().String(), NoWorker: true, Configure: func(c *config.Config) { c.Timeouts.Start = start },
	})
	testenv.Until(t, func() error {
		s.CreateOrder(t, s.Key)
		select {
		case given := <-temporal.given:
			require.GreaterOrEqual(t, given, start)
			return nil
		default:
			return errors.New("a slow machine gave up before the call")
		}
	})
}
