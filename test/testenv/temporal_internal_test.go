package testenv

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A call outlasts the SDK's deadline and the refusals of a busy server, and ends when its test
// does.
func TestUntilAnswered(t *testing.T) {
	t.Parallel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Now())
	defer cancelLate()
	calls := 0
	err := untilAnswered(late, "", nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		require.NoError(t, ctx.Err())
		calls++
		switch calls {
		case 1:
			return status.Error(codes.DeadlineExceeded, "the server was too slow")
		case 2:
			return status.Error(codes.ResourceExhausted, "workflow is busy")
		case 3:
			return status.Error(codes.Unavailable, "the shard has no owner")
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 4, calls)
	err = untilAnswered(late, "", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		return status.Error(codes.NotFound, "no such workflow")
	})
	require.Equal(t, codes.NotFound, status.Code(err))

	ended, end := context.WithCancel(t.Context())
	err = untilAnswered(ended, "", nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		end()
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
}
