package api

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A response that its client has not received yet is kept in a buffer of the system, which would
// grow to megabytes. Filling those of a thousand clients that do not read takes the processors from
// everybody else. So a connection has firstSendBuffer, and sendBuffer from readerSent bytes on:
// more than a client takes without reading, which is about 180 KB in its buffer and the first one.
const (
	firstSendBuffer = 16 << 10
	sendBuffer      = 128 << 10
	readerSent      = 256 << 10
)

// clientConn is a client's connection.
type clientConn struct {
	*net.TCPConn
	listener *clientListener
	client   netip.Prefix
	// progress is when a byte was last moved, in nanoseconds. busy means that the service works for
	// the client.
	progress atomic.Int64
	busy     atomic.Bool
	// unanswered means that net/http reads a request, which it has not given to the handler yet.
	unanswered atomic.Bool
	// sent is how many bytes were written.
	sent atomic.Int64

	mu           sync.Mutex
	readDeadline time.Time
}

type connKey struct{}

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
	return c.TCPConn.Close()
}

// Write notes the progress, and gives a client that reads its larger buffer. What net/http writes
// to refuse a request is replaced.
func (c *clientConn) Write(p []byte) (int, error) {
	if c.unanswered.Load() {
		if _, err := c.TCPConn.Write(refusalOf(p)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	n, err := c.TCPConn.Write(p)
	if n > 0 {
		c.progressed()
	}
	if sent := c.sent.Add(int64(n)); sent >= readerSent && sent-int64(n) < readerSent {
		_ = c.SetWriteBuffer(sendBuffer) // the smaller one is slower, not wrong
	}
	return n, err
}

// SetReadDeadline remembers the deadline for Read.
func (c *clientConn) SetReadDeadline(deadline time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline = deadline
	return c.TCPConn.SetReadDeadline(deadline)
}

// SetDeadline remembers the deadline for Read.
func (c *clientConn) SetDeadline(deadline time.Time) error {
	return errors.Join(c.SetReadDeadline(deadline), c.SetWriteDeadline(deadline))
}

// Read reads once more after a deadline that was noticed late. The process stood still meanwhile,
// and what the client sent in its time is there to be read.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 {
		c.progressed()
	}
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// net/http ends a read with a deadline in 1970: nothing may be read then.
	if late := time.Since(c.readDeadline); late < standstill || late > time.Hour {
		return n, err
	}
	if c.TCPConn.SetReadDeadline(time.Now().Add(standstill/4)) != nil {
		return n, err
	}
	n, err = c.TCPConn.Read(p)
	_ = c.TCPConn.SetReadDeadline(c.readDeadline) // a connection that is closed has none
	return n, err
}
