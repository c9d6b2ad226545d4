package cluster

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// phoneCookie is the cookie of a rider's phone.
const phoneCookie = "despacho_rider"

// CallTimeout bounds one request, unless its context ends sooner.
const CallTimeout = 30 * time.Second

// Request is one HTTP request of a client.
type Request struct {
	Method, Path string
	// Key is sent as X-API-Key, Token as a Bearer token, Phone as the cookie of a rider's phone.
	Key, Token, Phone string
	// Client is sent as X-Forwarded-For: the address that a limit per client counts.
	Client string
	// IdempotencyKey is sent if it is not empty.
	IdempotencyKey string
	Body           []byte
	// ContentType is that of the body; empty is JSON.
	ContentType string
	// Fragment is the part of a panel page that a script asks for; empty is the whole page.
	Fragment string
}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Connection is a minimal HTTP client on one connection. The machine is shared with the measured
// processes, so the client must cost little.
type Connection struct {
	address string
	conn    *net.TCPConn
	reader  *bufio.Reader
}

// NewConnection is a connection that is opened with its first request.
func NewConnection(address string) *Connection { return &Connection{address: address} }

// Do sends a request; a kept connection that the server has closed is reopened once.
func (c *Connection) Do(ctx context.Context, r Request) (*Answer, error) {
	kept := c.conn != nil
	got, err := c.Try(ctx, r)
	if err != nil && kept && ctx.Err() == nil {
		got, err = c.Try(ctx, r)
	}
	return got, err
}

// Expect is Do with an error for any other status.
func (c *Connection) Expect(ctx context.Context, status int, r Request) (*Answer, error) {
	got, err := c.Do(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	if got.Status != status {
		return nil, fmt.Errorf("%s %s answered %d, not %d: %.200s", r.Method, r.Path, got.Status, status, got.Body)
	}
	return got, nil
}

// Try sends a request without a retry: a closed connection is an error.
func (c *Connection) Try(ctx context.Context, r Request) (*Answer, error) {
	got, err := c.exchange(ctx, r)
	if err != nil {
		c.Close()
	}
	return got, err
}

// DropIfClosed drops a kept connection that the server has closed while it was idle, as connection
// pools do.
func (c *Connection) DropIfClosed() {
	if c.conn != nil && (c.reader.Buffered() > 0 || !isQuiet(c.conn)) {
		c.Close() // it was closed, or has data without a request
	}
}

// isQuiet reports whether a connection is open and has nothing to read. It asks the system without
// waiting: a read with a deadline returns at the deadline without having looked, if the goroutine
// gets its turn late.
func isQuiet(conn *net.TCPConn) bool {
	if conn.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var peeked error
	err = raw.Read(func(fd uintptr) bool {
		_, _, peeked = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return true
	})
	return err == nil && errors.Is(peeked, syscall.EAGAIN)
}

func (c *Connection) exchange(ctx context.Context, r Request) (*Answer, error) {
	if c.conn == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.address)
		if err != nil {
			return nil, err
		}
		c.conn, c.reader = conn.(*net.TCPConn), bufio.NewReaderSize(conn, 16<<10)
	}
	deadline := time.Now().Add(CallTimeout)
	if sooner, limited := ctx.Deadline(); limited && sooner.Before(deadline) {
		deadline = sooner
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(r.bytes()); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.Close {
		c.Close() // Connection: close
	}
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

// Close ends the connection; the next request opens another.
func (c *Connection) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

func (r *Request) bytes() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: despacho\r\n", r.Method, r.Path)
	header := func(name, value string) {
		if value != "" {
			text.WriteString(name + ": " + value + "\r\n")
		}
	}
	header("X-API-Key", r.Key)
	if r.Token != "" {
		header("Authorization", "Bearer "+r.Token)
	}
	if r.Phone != "" {
		header("Cookie", phoneCookie+"="+r.Phone)
	}
	header("X-Forwarded-For", r.Client)
	header("Idempotency-Key", r.IdempotencyKey)
	header("X-Fragment", r.Fragment)
	if r.Body != nil {
		header("Content-Type", cmp.Or(r.ContentType, "application/json"))
	}
	if r.Body != nil || r.Method != http.MethodGet {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(r.Body))
	}
	text.WriteString("\r\n")
	text.Write(r.Body)
	return text.Bytes()
}
