package api

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
