package api

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/orders"
)

// counts counts what each client, or each operator, has open at the same time.
type counts[K comparable] struct {
	limit int // 0: none

	mu   sync.Mutex
	open map[K]int
}

func newCounts[K comparable](limit int) *counts[K] {
	return &counts[K]{limit: limit, open: map[K]int{}}
}

// enter counts one more, unless whose it is has the limit already. leave may be called more than
// once.
func (n *counts[K]) enter(whose K) (leave func(), ok bool) {
	if n.limit == 0 {
		return func() {}, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open[whose] >= n.limit {
		return nil, false
	}
	n.open[whose]++
	return sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.open[whose]--; n.open[whose] == 0 {
			delete(n.open, whose)
		}
	}), true
}

// shares counts what each operator has open at the same time in each mode, of which one store has a
// part: it cannot take what its operator and the other stores need.
type shares struct{ ofOperators, ofStores *counts[holder] }

// holder is an operator or a store in a mode.
type holder struct {
	id   uuid.UUID
	test bool
}

func newShares(perOperator, perStore int) *shares {
	return &shares{newCounts[holder](perOperator), newCounts[holder](perStore)}
}

// enter counts one more of a caller's operator, and of its store if it has one.
func (n *shares) enter(whose orders.Caller) (leave func(), ok bool) {
	if whose.StoreID == nil {
		return n.ofOperators.enter(holder{whose.Operator.ID, whose.Test})
	}
	leaveStore, ok := n.ofStores.enter(holder{*whose.StoreID, whose.Test})
	if !ok {
		return nil, false
	}
	leaveOperator, ok := n.ofOperators.enter(holder{whose.Operator.ID, whose.Test})
	if !ok {
		leaveStore()
		return nil, false
	}
	return func() {
		leaveOperator()
		leaveStore()
	}, true
}

// enterClient bounds the requests of one client behind a trusted proxy, whose connections are
// shared. Other clients are bounded by their connections.
func (s *Server) enterClient(c *gin.Context) (leave func(), err error) {
	peer, err := netip.ParseAddrPort(c.Request.RemoteAddr)
	if err != nil || !isTrusted(peer.Addr(), s.trustedProxies) {
		return func() {}, nil
	}
	client, err := netip.ParseAddr(c.ClientIP())
	if err != nil {
		return func() {}, nil
	}
	leave, ok := s.clients.enter(clientNet(client))
	if !ok {
		return nil, errOverloaded.Because(errors.New("the client has MAX_CONNECTIONS_PER_ADDRESS requests already"))
	}
	return leave, nil
}

func isTrusted(address netip.Addr, proxies []netip.Prefix) bool {
	address = address.Unmap()
	for _, proxy := range proxies {
		if proxy.Contains(address) {
			return true
		}
	}
	return false
}

// clientListener bounds the connections of each client address, so that one client cannot hold all
// file descriptors. At the limit a new connection takes the place of the one that
// has done nothing for longest: neighbours may share the address of whoever holds the others. A
// trusted proxy connects for many clients and is exempt.
type clientListener struct {
	net.Listener
	limit   int // 0: none
	proxies []netip.Prefix
	log     *slog.Logger

	mu   sync.Mutex
	open map[netip.Prefix]map[*clientConn]struct{}

	refused    int
	lastLogged time.Time
}

// Listener is listener with MAX_CONNECTIONS_PER_ADDRESS applied.
func (s *Server) Listener(listener net.Listener) net.Listener {
	return &clientListener{
		Listener: listener, limit: s.config.MaxConnectionsPerAddress, proxies: s.trustedProxies, log: s.log,
		open: map[netip.Prefix]map[*clientConn]struct{}{},
	}
}

// Accept returns the next connection within the limit.
func (l *clientListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := accepted.(*net.TCPConn)
		if !ok {
			return accepted, nil
		}
		peer := tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()
		connection := &clientConn{Conn: tcp, listener: l, client: clientNet(peer)}
		connection.progressed()
		if l.limit == 0 || isTrusted(peer, l.proxies) || l.add(connection) {
			return connection, nil
		}
		l.refuse(tcp)
	}
}

// add counts a connection. At the limit it closes the quietest of the client's others, or returns
// false if there is none.
func (l *clientListener) add(connection *clientConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	others := l.open[connection.client]
	if len(others) >= l.limit {
		quietest := quietestOf(others)
		if quietest == nil {
			return false
		}
		delete(others, quietest)
		_ = quietest.Conn.Close()
	}
	if others == nil {
		others = map[*clientConn]struct{}{}
		l.open[connection.client] = others
	}
	others[connection] = struct{}{}
	return true
}

// quietestOf is the connection that has moved no byte for longest; nil if the service works for all
// of them.
func quietestOf(connections map[*clientConn]struct{}) (quietest *clientConn) {
	for connection := range connections {
		if !connection.busy.Load() && (quietest == nil || connection.progress.Load() < quietest.progress.Load()) {
			quietest = connection
		}
	}
	return quietest
}

func (l *clientListener) remove(connection *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	others := l.open[connection.client]
	if delete(others, connection); len(others) == 0 {
		delete(l.open, connection.client)
	}
}

// refusal is what a connection over the limit is sent.
const refusal = "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json; charset=utf-8\r\nRetry-After: 1\r\nConnection: close\r\n" +
	"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n" +
	`{"error":"Demasiadas conexiones a la vez desde su dirección. Cierre algunas o espere a que terminen.","code":"too_many_requests"}`

// refuse does not wait: the text fits into the buffer of a new connection.
func (l *clientListener) refuse(connection *net.TCPConn) {
	_ = connection.SetDeadline(time.Now().Add(time.Second))
	_, _ = connection.Write([]byte(refusal))
	_ = connection.Close()
	// Accept is called by one goroutine: these need no mutex.
	l.refused++
	if now := time.Now(); now.Sub(l.lastLogged) > time.Minute {
		l.log.Warn("connections refused: an address has MAX_CONNECTIONS_PER_ADDRESS already", "connections", l.refused)
		l.refused, l.lastLogged = 0, now
	}
}
