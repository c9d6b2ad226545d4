package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// boundDialer opens checked connections, each for a single request.
type boundDialer struct {
	net.Dialer
	timeout time.Duration
}

// DialContext connects like net.Dialer.
func (d *boundDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	// The transport keeps dialling after its request was cancelled, so the dialer needs its own
	// timeout.
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	// The request's own timeout comes first. This deadline ends abandoned connections, such as a
	// handshake nobody waits for or an unrequested protocol upgrade.
	if err := conn.SetDeadline(time.Now().Add(d.timeout)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
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
