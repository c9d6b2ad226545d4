package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// callTimeout bounds one request.
const callTimeout = 30 * time.Second

// request is one HTTP request of a client.
type request struct {
	method, path string
	// key is sent as X-API-Key, token as a Bearer token.
	key, token string
	// client is sent as X-Forwarded-For: the address that a limit per client counts.
	client string
	// idempotencyKey is sent if it is not empty.
	idempotencyKey string
	body           []byte
}

// answer is what came back.
type answer struct {
	status   int
	location string
	body     []byte
}

// connection is one client's own. It does as little as a client can: the machine is shared with what is measured, and a
// cheap client makes small differences visible.
type connection struct {
	address string
	conn    net.Conn
	reader  *bufio.Reader
}

func newConnection(address string) *connection { return &connection{address: address} }

// do sends a request; a kept connection that the server has closed meanwhile is opened anew once.
func (c *connection) do(ctx context.Context, r request) (*answer, error) {
	kept := c.conn != nil
	got, err := c.try(ctx, r)
	if err != nil && kept && ctx.Err() == nil {
		got, err = c.try(ctx, r)
	}
	return got, err
}

// expect is do for an answer that must have a status.
func (c *connection) expect(ctx context.Context, status int, r request) (*answer, error) {
	got, err := c.do(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if got.status != status {
		return nil, fmt.Errorf("%s %s answered %d, not %d: %.200s", r.method, r.path, got.status, status, got.body)
	}
	return got, nil
}

func (c *connection) try(ctx context.Context, r request) (*answer, error) {
	got, err := c.exchange(ctx, r)
	if err != nil {
		c.close()
	}
	return got, err
}

func (c *connection) exchange(ctx context.Context, r request) (*answer, error) {
	if c.conn == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.address)
		if err != nil {
			return nil, err
		}
		c.conn, c.reader = conn, bufio.NewReaderSize(conn, 16<<10)
	}
	if err := c.conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
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
	return &answer{status: response.StatusCode, location: response.Header.Get("Location"), body: body}, err
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

func (r request) bytes() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: bench\r\n", r.method, r.path)
	header := func(name, value string) {
		if value != "" {
			text.WriteString(name + ": " + value + "\r\n")
		}
	}
	header("X-API-Key", r.key)
	if r.token != "" {
		header("Authorization", "Bearer "+r.token)
	}
	header("X-Forwarded-For", r.client)
	header("Idempotency-Key", r.idempotencyKey)
	if r.body != nil {
		header("Content-Type", "application/json")
	}
	if r.body != nil || r.method != http.MethodGet {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(r.body))
	}
	text.WriteString("\r\n")
	text.Write(r.body)
	return text.Bytes()
}

// connections are one for each client of a load.
func connections(address string, clients int) []*connection {
	list := make([]*connection, clients)
	for i := range list {
		list[i] = newConnection(address)
	}
	return list
}

func closeAll(list []*connection) {
	for _, c := range list {
		c.close()
	}
}
