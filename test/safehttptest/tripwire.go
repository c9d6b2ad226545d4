package safehttptest

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

// Tripwire is a listener that must not be connected to.
type Tripwire struct {
	listener *net.TCPListener
}

// NewTripwire listens on a loopback address until the test ends.
func NewTripwire(t testing.TB, address string) *Tripwire {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return &Tripwire{listener: listener.(*net.TCPListener)}
}

// Addr is the host and port listened on.
func (w *Tripwire) Addr() string {
	return w.listener.Addr().String()
}

// RequireUntouched proves that no connection was ever made: connections are accepted in the order
// they arrive, so the test's own one, made now, must be the first.
func (w *Tripwire) RequireUntouched(t testing.TB) {
	t.Helper()
	own, err := net.DialTimeout("tcp", w.Addr(), poll.Deadline)
	require.NoError(t, err)
	defer func() { _ = own.Close() }()

	require.NoError(t, w.listener.SetDeadline(time.Now().Add(poll.Deadline)))
	first, err := w.listener.Accept()
	require.NoError(t, err)
	defer func() { _ = first.Close() }()
	require.Equal(t, own.LocalAddr().String(), first.RemoteAddr().String(),
		"a refused address saw a connection")
}
