package chaos

import (
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

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
	// after the latest acknowledged move, before that ahead of it.
	done, unknown map[models.Move]int
	last, before  models.Status
	finished      bool
	// rider is who the order was assigned to last, acts are what riders did with it.
	rider uuid.UUID
	acts  []*trackedAct

	// requestedAt is when the creation was first requested, acknowledgedAt when it was acknowledged;
	// moves are the acknowledged moves with their times.
	requestedAt, acknowledgedAt time.Time
	moves                       []acknowledgedMove

	mu    sync.Mutex
	notes []string
}

// acknowledgedMove is a move and when it was acknowledged.
type acknowledgedMove struct {
	move models.Move
	at   time.Time
}

// movesBefore counts the moves that were acknowledged before a time.
func (o *trackedOrder) movesBefore(at time.Time) map[models.Move]int {
	counts := map[models.Move]int{}
	for _, made := range o.moves {
		if made.at.Before(at) {
			counts[made.move]++
		}
	}
	return counts
}

func (l *ledger) open(key, life string, body []byte, cash bool) *trackedOrder {
	o := &trackedOrder{
		key: key, scenario: life, body: body, cash: cash, last: models.StatusRegistered, requestedAt: time.Now(),
		done: map[models.Move]int{}, unknown: map[models.Move]int{},
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orders = append(l.orders, o)
	return o
}

// all are the orders so far.
func (l *ledger) all() []*trackedOrder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*trackedOrder(nil), l.orders...)
}

// acknowledged are the orders whose creation was acknowledged.
func (l *ledger) acknowledged() (list []*trackedOrder) {
	for _, o := range l.all() {
		if o.id != "" {
			list = append(list, o)
		}
	}
	return list
}

// note keeps what a client saw, for orderDetails.
func (o *trackedOrder) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notes = append(o.notes, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

var statusAfter = map[models.Move]models.Status{
	models.MoveReceive: models.StatusReceived, models.MoveAssign: models.StatusAssigned,
	models.MoveDeliver: models.StatusDelivered, models.MoveCancel: models.StatusCancelled, models.MoveFail: models.StatusAssigned,
	models.MoveHandBack: models.StatusCancelled,
}

// acknowledge counts a move that was made.
func (o *trackedOrder) acknowledge(move models.Move) {
	o.done[move]++
	o.moves = append(o.moves, acknowledgedMove{move, time.Now()})
	status, known := statusAfter[move]
	switch {
	case move == models.MoveUndo:
		status = o.before
	case !known: // a decision does not change it
		status = o.last
	}
	o.last, o.before = status, o.last
}

// answerAct keeps what became of an act. Two of one order may be answered at the same time.
func (o *trackedOrder) answerAct(act *trackedAct, outcome string) {
	o.note("%s by the rider: %s", act.move, outcome)
	o.mu.Lock()
	defer o.mu.Unlock()
	act.outcome = outcome
	if outcome == actDone {
		o.acknowledge(act.move)
	}
}

// resolve counts a move of unknown outcome as made, because the timeline shows it.
func (o *trackedOrder) resolve(move models.Move) {
	o.unknown[move]--
	o.acknowledge(move)
}

// certain reports whether no move's outcome is unknown.
func (o *trackedOrder) certain() bool {
	for _, count := range o.unknown {
		if count > 0 {
			return false
		}
	}
	return true
}
