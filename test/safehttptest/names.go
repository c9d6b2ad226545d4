// Package safehttptest has a DNS server with the names of a test, and listeners that fail a test
// when they are connected to.
package safehttptest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"despacho/test/poll"
)

// Names maps each name to what its successive look-ups answer: addresses separated by spaces. The
// last answer repeats; a name that is not here does not exist.
type Names map[string][]string

// Resolver asks an in-process DNS server on loopback that knows only the given names.
func Resolver(t testing.TB, names Names) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	server := &nameServer{conn: conn, names: names, asked: map[dnsmessage.Question]int{}}
	var running sync.WaitGroup
	running.Go(server.serve)
	t.Cleanup(func() {
		_ = conn.Close()
		running.Wait()
	})
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			own, err := new(net.Dialer).DialContext(ctx, "udp4", conn.LocalAddr().String())
			if err != nil {
				return nil, err
			}
			return noDeadlineConn{own.(*net.UDPConn)}, nil
		},
	}
}

// noDeadlineConn outlasts the 5 seconds that a resolver gives each question by default: on a busy
// machine it would ask again, which counts as the next look-up of the name.
type noDeadlineConn struct{ *net.UDPConn }

func (c noDeadlineConn) SetDeadline(time.Time) error {
	return c.UDPConn.SetDeadline(time.Now().Add(poll.Deadline))
}

type nameServer struct {
	conn  net.PacketConn
	names Names
	asked map[dnsmessage.Question]int
}

// serve answers until the socket is closed.
func (s *nameServer) serve() {
	packet := make([]byte, 1232)
	for {
		size, client, err := s.conn.ReadFrom(packet)
		if err != nil {
			return
		}
		if reply, err := s.answer(packet[:size]); err == nil {
			_, _ = s.conn.WriteTo(reply, client)
		}
	}
}

func (s *nameServer) answer(packet []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(packet)
	if err != nil {
		return nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return nil, err
	}
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true},
		Questions: []dnsmessage.Question{question},
	}
	answers, known := s.names[strings.TrimSuffix(question.Name.String(), ".")]
	if !known {
		reply.RCode = dnsmessage.RCodeNameError
		return reply.Pack()
	}
	turn := min(s.asked[question], len(answers)-1)
	s.asked[question]++
	for _, address := range strings.Fields(answers[turn]) {
		if body, ok := record(netip.MustParseAddr(address), question.Type); ok {
			resource := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: resource, Body: body})
		}
	}
	return reply.Pack()
}

func record(addr netip.Addr, kind dnsmessage.Type) (dnsmessage.ResourceBody, bool) {
	switch {
	case kind == dnsmessage.TypeA && addr.Is4():
		return &dnsmessage.AResource{A: addr.As4()}, true
	case kind == dnsmessage.TypeAAAA && addr.Is6():
		return &dnsmessage.AAAAResource{AAAA: addr.As16()}, true
	default:
		return nil, false
	}
}
