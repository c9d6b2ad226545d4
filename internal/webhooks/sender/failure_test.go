package sender

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// These failures cannot be produced on loopback; the others are tested with real receivers.
func TestFailureOfExchangeNamesNetworkTroubles(t *testing.T) {
	t.Parallel()
	dialError := func(number syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)}
	}
	for name, test := range map[string]struct {
		err         error
		inHandshake bool
		want        Reason
	}{
		"no route to the host":      {dialError(syscall.EHOSTUNREACH), false, ReasonUnreachable},
		"no route to the network":   {dialError(syscall.ENETUNREACH), false, ReasonUnreachable},
		"the kernel gave up":        {dialError(syscall.ETIMEDOUT), false, ReasonTimeout},
		"the resolver gave up":      {&net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}, false, ReasonDNS},
		"reset after the request":   {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false, ReasonClosed},
		"ended in the handshake":    {io.EOF, true, ReasonTLS},
		"alert during handshake":    {&net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}, true, ReasonTLS},
		"something never seen here": {errors.New("malformed HTTP response"), false, ReasonClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrapped := &url.Error{Op: "Post", URL: "https://tienda.test/hook?clave=secreta", Err: test.err}
			failure := failureOfExchange(context.Background(), wrapped, test.inHandshake, 5*time.Second)
			require.Equal(t, test.want, failure.Reason)
			require.NotEmpty(t, failure.Message)
			require.NotContains(t, failure.Message, "tienda.test", "words never repeat the URL")
		})
	}
}
