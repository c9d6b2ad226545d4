package safehttp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// boundDialer opens checked connections: a few at once per host, each for a single request.
type boundDialer struct {
	net.Dialer
	timeout time.Duration
	// connections is nil if they are not bounded.
	connections *hostSlots
}

// DialContext connects like net.Dialer.
func (d *boundDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	// The transport keeps dialling after its request was cancelled, so the dialer needs its own
	// timeout.
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	release := func() {}
	if d.connections != nil {
		var err error
		if release, err = d.connections.acquire(ctx, address); err != nil {
			return nil, fmt.Errorf("safehttp: no free connection to the host: %w", err)
		}
	}
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		release()
		return nil, err
	}
	// The request's own timeout comes first. This deadline ends abandoned connections, such as a
	// handshake nobody waits for or an unrequested protocol upgrade.
	if err := conn.SetDeadline(time.Now().Add(d.timeout)); err != nil {
		release()
		_ = conn.Close()
		return nil, err
	}
	return &slottedConn{Conn: conn, release: release}, nil
}

// slottedConn releases its host's slot when it is closed.
type slottedConn struct {
	net.Conn
	release func()
}

// Close closes the connection. It may be called more than once.
func (c *slottedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// refusePrivate checks the address of each socket just before it connects: no second DNS lookup
// happens between the check and the connection.
func refusePrivate(allow []netip.Prefix) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		if network != "tcp4" && network != "tcp6" {
			return fmt.Errorf("safehttp: network %q is not allowed", network)
		}
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("safehttp: dialled address %q: %w", address, err)
		}
		return Check(target.Addr(), allow)
	}
}
