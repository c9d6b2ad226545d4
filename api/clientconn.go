package api

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// clientConn is a client's connection.
type clientConn struct {
	net.Conn
	listener *clientListener
	client   netip.Prefix
	// progress is when a byte was last moved, in nanoseconds. busy means that the service works for
	// the client.
	progress atomic.Int64
	busy     atomic.Bool
}

type connKey struct{}

func connContext(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, connection)
}

// connOf is the connection of a request; nil in tests without one.
func connOf(ctx context.Context) *clientConn {
	connection, _ := ctx.Value(connKey{}).(*clientConn)
	return connection
}

func (c *clientConn) progressed() { c.progress.Store(time.Now().UnixNano()) }

// setBusy does nothing for a request without a connection.
func (c *clientConn) setBusy(busy bool) {
	if c != nil {
		c.busy.Store(busy)
	}
}

// Close also ends its count.
func (c *clientConn) Close() error {
	c.listener.remove(c)
	return c.Conn.Close()
}

// Write notes the progress.
func (c *clientConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.progressed()
	}
	return n, err
}

// Read notes the progress.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.progressed()
	}
	return n, err
}
