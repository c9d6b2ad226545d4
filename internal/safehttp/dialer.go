package safehttp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// boundDialer opens guarded connections, few at once to each host and each for one exchange alone.
type boundDialer struct {
	net.Dialer
	timeout     time.Duration
	connections *HostSlots
}

// DialContext connects to a host and port as net.Dialer does.
func (d *boundDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	// The transport dials on after its request was given up, so the bound must be the dialer's own.
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	release, err := d.connections.Acquire(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("guard: no free connection to the host: %w", err)
	}
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		release()
		return nil, err
	}
	// The request's own limit comes first; this one ends what is left behind, such as a handshake
	// that nobody awaits any more or an upgrade to a protocol that was never asked for.
	if err := conn.SetDeadline(time.Now().Add(d.timeout)); err != nil {
		release()
		_ = conn.Close()
		return nil, err
	}
	return &slottedConn{Conn: conn, release: release}, nil
}

// slottedConn gives its host's slot back when it is closed.
type slottedConn struct {
	net.Conn
	release func()
}

// Close ends the connection; it may be called again.
func (c *slottedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// refusePrivate judges the address of each socket just before it connects: no second look-up of the
// name can come between the check and the connection.
func refusePrivate(allow []netip.Prefix) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		if network != "tcp4" && network != "tcp6" {
			return fmt.Errorf("guard: network %q is not allowed", network)
		}
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("guard: dialled address %q: %w", address, err)
		}
		return Check(target.Addr(), allow)
	}
}
