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

// A call outlasts the SDK's deadline and one of the server's, and ends when its test does.
func TestUntilAnswered(t *testing.T) {
	t.Parallel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Now())
	defer cancelLate()
	calls := 0
	err := untilAnswered(late, "", nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		require.NoError(t, ctx.Err())
		if calls++; calls == 1 {
			return status.Error(codes.DeadlineExceeded, "the server was too slow")
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, calls)

	ended, end := context.WithCancel(t.Context())
	err = untilAnswered(ended, "", nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		end()
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
}
