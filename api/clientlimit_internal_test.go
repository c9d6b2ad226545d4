package api

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

// acceptedPair is a connection that the listener accepted, and the client's end of it.
func acceptedPair(t *testing.T) (accepted, client net.Conn) {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{config: &config.Config{MaxConnectionsPerAddress: 1}, log: slog.New(slog.DiscardHandler)}
	listener := s.Listener(plain)
	client, err = net.Dial("tcp", plain.Addr().String())
	require.NoError(t, err)
	accepted, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = errors.Join(listener.Close(), client.Close(), accepted.Close()) })
	return accepted, client
}

// What arrived while the process stood still is read, although its deadline passed meanwhile.
func TestClientConn_readsWhatArrivedDuringAStandstill(t *testing.T) {
	t.Parallel()
	accepted, client := acceptedPair(t)
	_, err := client.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, accepted.SetReadDeadline(time.Now().Add(-16*time.Second)))
	content := make([]byte, 5)
	for at := range content { // each of several reads, as net/http makes them
		_, err = io.ReadFull(accepted, content[at:at+1])
		require.NoError(t, err)
	}
	require.Equal(t, "hello", string(content))
	_, err = accepted.Read(content)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "nothing more has arrived")
}

// A deadline that was noticed in time holds, and so does the one with which net/http ends a read.
func TestClientConn_keepsOtherDeadlines(t *testing.T) {
	t.Parallel()
	for _, deadline := range []time.Time{time.Now(), time.Unix(1, 0)} {
		accepted, client := acceptedPair(t)
		_, err := client.Write([]byte("hello"))
		require.NoError(t, err)
		require.NoError(t, accepted.SetReadDeadline(deadline))
		_, err = accepted.Read(make([]byte, 5))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
}

// A client that reads nothing has little of a response kept for it, one that reads has more.
func TestClientConn_keepsLittleForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	response := make([]byte, 4*readerSent)
	accepted, _ := acceptedPair(t)
	require.NoError(t, accepted.SetWriteDeadline(time.Now().Add(300*time.Millisecond)))
	sent, err := accepted.Write(response)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Positive(t, sent)
	require.Less(t, sent, readerSent)
	require.Less(t, sendBufferOf(t, accepted), sendBuffer)

	accepted, client := acceptedPair(t)
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(client, make([]byte, len(response)))
		read <- err
	}()
	_, err = accepted.Write(response)
	require.NoError(t, err)
	require.NoError(t, <-read)
	require.GreaterOrEqual(t, sendBufferOf(t, accepted), sendBuffer)
}

func sendBufferOf(t *testing.T, accepted net.Conn) (size int) {
	t.Helper()
	raw, err := accepted.(*clientConn).SyscallConn()
	require.NoError(t, err)
	var failed error
	require.NoError(t, raw.Control(func(fd uintptr) { size, failed = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF) }))
	require.NoError(t, failed)
	return size
}

func TestClientNet(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8::1": "2001:db8::/64", "2001:db8:0:1::1": "2001:db8:0:1::/64", "fe80::1%eth0": "fe80::/64",
	} {
		require.Equal(t, want, clientNet(netip.MustParseAddr(address)).String(), address)
	}
}

// A new connection takes the place of one that has long moved nothing, and not of one for which the
// service works.
func TestQuietestOf(t *testing.T) {
	t.Parallel()
	newConn := func(ago time.Duration, busy bool) *clientConn {
		c := &clientConn{}
		c.progress.Store(time.Now().Add(-ago).UnixNano())
		c.setBusy(busy)
		return c
	}
	connections := map[*clientConn]struct{}{newConn(2*time.Hour, true): {}}
	require.Nil(t, quietestOf(connections))
	fresh, idle := newConn(0, false), newConn(time.Hour, false)
	connections[fresh], connections[idle] = struct{}{}, struct{}{}
	require.Same(t, idle, quietestOf(connections))
	(*clientConn)(nil).setBusy(true) // a request without a connection
}
