package chaos

import (
	"fmt"
	"sync"
	"time"

	"despacho/models"
)

// ledger is what the clients know: every order they asked for, and every move that was, or may have
// been, made.
type ledger struct {
	mu     sync.Mutex
	orders []*trackedOrder
}

// trackedOrder is one order as its client saw it. One goroutine uses it at a time.
type trackedOrder struct {
	key      string
	scenario string
	cash     bool
	body     []byte

	// id, guide and answer are set by the acknowledgement.
	id, guide string
	answer    []byte
	apiKey    string

	// done counts the acknowledged moves, unknown those without a response. last is the status
	// after the latest acknowledged move.
	done, unknown map[models.Move]int
	last          models.Status
	finished      bool

	mu    sync.Mutex
	notes []string
}

func (l *ledger) open(key, life string, body []byte, cash bool) *trackedOrder {
	s := &trackedOrder{
		key: key, scenario: life, body: body, cash: cash, last: models.StatusRegistered,
		done: map[models.Move]int{}, unknown: map[models.Move]int{},
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orders = append(l.orders, s)
	return s
}

// all are the orders so far.
func (l *ledger) all() []*trackedOrder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*trackedOrder(nil), l.orders...)
}

// acknowledged are the orders whose creation was acknowledged.
func (l *ledger) acknowledged() (list []*trackedOrder) {
	for _, s := range l.all() {
		if s.id != "" {
			list = append(list, s)
		}
	}
	return list
}

// note keeps what a client saw, for orderDetails.
func (s *trackedOrder) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

var statusAfter = map[models.Move]models.Status{
	models.MoveReceive: models.StatusReceived, models.MoveAssign: models.StatusAssigned,
	models.MoveDeliver: models.StatusDelivered, models.MoveCancel: models.StatusCancelled,
}

// acknowledge counts a move that was made.
func (s *trackedOrder) acknowledge(move models.Move) {
	s.done[move]++
	s.last = statusAfter[move]
}

// resolve counts a move of unknown outcome as made, because the timeline shows it.
func (s *trackedOrder) resolve(move models.Move) {
	s.unknown[move]--
	s.acknowledge(move)
}

// certain reports whether no move's outcome is unknown.
func (s *trackedOrder) certain() bool {
	for _, count := range s.unknown {
		if count > 0 {
			return false
		}
	}
	return true
}
