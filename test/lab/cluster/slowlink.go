package cluster

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Profile is a network: how long a round trip takes, and how many bytes a second pass each way.
type Profile struct {
	RoundTrip time.Duration
	Down, Up  int
}

// ThirdGeneration is what is called 3G where pages are measured: 300 ms, 1.6 Mbit/s down and 768
// kbit/s up.
var ThirdGeneration = Profile{RoundTrip: 300 * time.Millisecond, Down: 200_000, Up: 96_000}

// SlowLink is a network between a client and a server. Everything that passes shares it, a service
// worker's requests too, which a browser's own throttling leaves out.
type SlowLink struct {
	listener net.Listener
	server   string
	profile  Profile
	down, up pipe
	cut      atomic.Bool
	sent     atomic.Int64
}

// NewSlowLink opens a network to a server.
func NewSlowLink(server string, profile Profile) (*SlowLink, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(Loopback, "0"))
	if err != nil {
		return nil, err
	}
	l := &SlowLink{listener: listener, server: server, profile: profile, down: pipe{rate: profile.Down}, up: pipe{rate: profile.Up}}
	go l.accept()
	return l, nil
}

// Address is where clients connect to.
func (l *SlowLink) Address() string { return l.listener.Addr().String() }

// Close ends the network.
func (l *SlowLink) Close(context.Context) error { return l.listener.Close() }

// Sent counts the bytes that clients have sent.
func (l *SlowLink) Sent() int64 { return l.sent.Load() }

// Cut has the network be gone, or back.
func (l *SlowLink) Cut(gone bool) { l.cut.Store(gone) }

func (l *SlowLink) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return // it is closed
		}
		go l.connect(near)
	}
}

func (l *SlowLink) connect(near net.Conn) {
	time.Sleep(l.profile.RoundTrip) // of the handshake
	far, err := net.Dial("tcp", l.server)
	if err != nil || l.cut.Load() {
		_ = near.Close()
		if err == nil {
			_ = far.Close()
		}
		return
	}
	var passing sync.WaitGroup
	passing.Go(func() { l.pass(&l.up, countedReader{near, &l.sent}, far) })
	passing.Go(func() { l.pass(&l.down, far, near) })
	passing.Wait()
}

// pass writes what is read from one connection to another, as slowly as the network is. One that is
// cut closes both.
func (l *SlowLink) pass(p *pipe, from io.ReadCloser, to io.WriteCloser) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	pieces := make(chan piece, 64)
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 4<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				pieces <- piece{buffer[:n], p.take(n).Add(l.profile.RoundTrip / 2)}
			}
			if err != nil {
				return
			}
		}
	}()
	var err error
	for next := range pieces {
		time.Sleep(time.Until(next.due))
		if err == nil && !l.cut.Load() {
			_, err = to.Write(next.bytes)
		}
		if err != nil || l.cut.Load() {
			_ = from.Close() // what is left is read to its end, so that the reader ends
		}
	}
	_ = to.Close()
}

// countedReader counts what is read.
type countedReader struct {
	io.ReadCloser
	count *atomic.Int64
}

func (c countedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.count.Add(int64(n))
	return n, err
}

// pipe is one direction of a network.
type pipe struct {
	rate int
	mu   sync.Mutex
	free time.Time
}

// take takes the time of so many bytes, after what was taken before, and returns when they have
// passed.
func (p *pipe) take(n int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	return p.free
}
