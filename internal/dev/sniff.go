package dev

import (
	"bufio"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

const (
	// tlsHandshake is the first byte of every TLS connection and of no HTTP request.
	tlsHandshake = 0x16
	// sniffTimeout ends connections that say nothing.
	sniffTimeout = 10 * time.Second
)

// sniffingListener serves HTTPS and plain HTTP on one address. Each connection is read in its own
// goroutine, so that a silent one does not block the others.
type sniffingListener struct {
	net.Listener
	config   *tls.Config
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func sniffTLS(listener net.Listener, config *tls.Config) net.Listener {
	l := &sniffingListener{Listener: listener, config: config, accepted: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	go l.acceptAll()
	return l
}

// Accept returns the next connection, as a *tls.Conn where the client speaks TLS.
func (l *sniffingListener) Accept() (net.Conn, error) {
	select {
	case connection := <-l.accepted:
		return connection, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close stops accepting.
func (l *sniffingListener) Close() error {
	l.close()
	return l.Listener.Close()
}

func (l *sniffingListener) acceptAll() {
	defer l.close()
	for {
		connection, err := l.Listener.Accept()
		if err != nil {
			return
		}
		go l.sniff(connection)
	}
}

func (l *sniffingListener) sniff(connection net.Conn) {
	peeked := peekedConn{Conn: connection, reader: bufio.NewReader(connection)}
	_ = connection.SetReadDeadline(time.Now().Add(sniffTimeout))
	first, err := peeked.reader.Peek(1)
	if err != nil {
		connection.Close()
		return
	}
	_ = connection.SetReadDeadline(time.Time{})
	var ready net.Conn = peeked
	if first[0] == tlsHandshake {
		ready = tls.Server(peeked, l.config)
	}
	select {
	case l.accepted <- ready:
	case <-l.closed:
		connection.Close()
	}
}

// peekedConn is a connection whose first bytes were read ahead.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c peekedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }
