package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"despacho/test/poll"
	"despacho/workflows"
)

// SearchAttributes are registered in the namespace of the Temporal server that tests use: name →
// type.
var SearchAttributes = workflows.SearchAttributes()

// Temporal returns the host:port of a real Temporal development server, shared by all tests.
func Temporal(t testing.TB) string {
	t.Helper()
	SkipIfShort(t)
	address, err := temporalServer.get()
	require.NoError(t, err)
	return address
}

// TaskQueue returns a name that no other test uses, so that tests share a server without sharing
// work.
func TaskQueue(t testing.TB) string { return t.Name() + "-" + rand.Text() }

// DialTemporal connects a test to Temporal, to the shared server if options name none. The SDK
// gives every call 10 seconds, in which a busy machine may not answer: here only a hang ends one.
func DialTemporal(t testing.TB, options client.Options) client.Client {
	t.Helper()
	if options.HostPort == "" {
		options.HostPort = Temporal(t)
	}
	if options.Logger == nil {
		options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	}
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions,
		grpc.WithChainUnaryInterceptor(untilAnswered))
	temporal, err := client.NewLazyClient(options)
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	return temporal
}

// busyRetry is the time between two tries of a call.
const busyRetry = 100 * time.Millisecond

// untilAnswered replaces a call's deadline by poll.Deadline. A server that is as busy ends calls by
// deadlines of its own or refuses them: such a call is repeated, as the same request. The SDK would
// repeat it for 10 seconds only.
func untilAnswered(
	ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption,
) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), poll.Deadline)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})()
	for {
		err := invoke(patient, method, request, reply, connection, options...)
		switch status.Code(err) {
		case codes.DeadlineExceeded, codes.ResourceExhausted, codes.Unavailable:
		default:
			return err
		}
		select {
		case <-patient.Done():
			return err
		case <-time.After(busyRetry):
		}
	}
}
