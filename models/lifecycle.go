package models

import (
	"slices"

	"github.com/google/uuid"
)

// Status is the status of an order, as callers see it.
type Status string

// The statuses of an order.
const (
	StatusRegistered Status = "registered"
	StatusReceived   Status = "received"
	StatusAssigned   Status = "assigned"
	StatusDelivered  Status = "delivered"
	StatusCancelled  Status = "cancelled"
)

// Statuses lists every status in lifecycle order.
var Statuses = []Status{StatusRegistered, StatusReceived, StatusAssigned, StatusDelivered, StatusCancelled}

// OpenStatuses are the statuses of an order that is neither delivered nor cancelled.
var OpenStatuses = []Status{StatusRegistered, StatusReceived, StatusAssigned}

// EndedStatuses are the others.
var EndedStatuses = []Status{StatusDelivered, StatusCancelled}

// Open reports whether an order with the status is neither delivered nor cancelled.
func (s Status) Open() bool { return slices.Contains(OpenStatuses, s) }

// Ended reports whether an order with the status is delivered or cancelled.
func (s Status) Ended() bool { return slices.Contains(EndedStatuses, s) }

// Label is the display name of the status.
func (s Status) Label() string {
	switch s {
	case StatusRegistered:
		return "Registrado"
	case StatusReceived:
		return "Recibido"
	case StatusAssigned:
		return "En reparto"
	case StatusDelivered:
		return "Entregado"
	case StatusCancelled:
		return "Cancelado"
	}
	return string(s)
}

// Valid reports whether s is a status an order can have.
func (s Status) Valid() bool { return slices.Contains(Statuses, s) }

// Actor is who makes a move.
type Actor string

// Who can move an order. Auto is the 24-hour timer.
const (
	ByStore    Actor = "store"
	ByOperator Actor = "operator"
	ByAuto     Actor = "auto"
)

// Move is a transition of an order.
type Move string

// The moves of an order, which are also the names of the workflow's signals and updates.
const (
	MoveCancel  Move = "cancel"
	MoveReceive Move = "received"
	MoveAssign  Move = "assigned"
	MoveDeliver Move = "delivered"
)

// Moves lists every move.
var Moves = []Move{MoveCancel, MoveReceive, MoveAssign, MoveDeliver}

// State is the part of an order that decides which moves are legal.
type State struct {
	Status      Status
	CancelledBy Actor
	RiderID     *uuid.UUID
}

// Verdict is the transition table's result for a move.
type Verdict int

// A move is applied, changes nothing (it repeats what already is), or is refused.
const (
	Refused Verdict = iota
	Applied
	Unchanged
)

// phase is a status with the one distinction callers do not see: an order that the timer cancelled
// can revive, one that a person cancelled cannot.
type phase string

const (
	registered    phase = "registered"
	received      phase = "received"
	assigned      phase = "assigned"
	delivered     phase = "delivered"
	cancelled     phase = "cancelled"
	autoCancelled phase = "auto_cancelled"
)

type transition struct {
	to     Status
	actors []Actor
}

var (
	anybody      = []Actor{ByStore, ByOperator, ByAuto}
	operatorOnly = []Actor{ByOperator}
)

// transitions is the one table of legal moves. What is not in it is refused.
var transitions = map[phase]map[Move]transition{
	registered: {
		MoveReceive: {StatusReceived, operatorOnly},
		MoveCancel:  {StatusCancelled, anybody},
	},
	received: {
		MoveAssign: {StatusAssigned, operatorOnly},
		MoveCancel: {StatusCancelled, operatorOnly},
	},
	assigned: {
		MoveAssign:  {StatusAssigned, operatorOnly},
		MoveDeliver: {StatusDelivered, operatorOnly},
		MoveCancel:  {StatusCancelled, operatorOnly},
	},
	autoCancelled: {
		MoveReceive: {StatusReceived, operatorOnly},
	},
	delivered: {},
	cancelled: {},
}

// Decide checks a move against the transition table and returns the resulting status. rider is the
// rider of an assignment and nil for the other moves.
func (s State) Decide(move Move, by Actor, rider *uuid.UUID) (Status, Verdict) {
	t, legal := transitions[s.phase()][move]
	if !legal || !slices.Contains(t.actors, by) {
		return s.Status, Refused
	}
	if move == MoveAssign && s.Status == StatusAssigned && rider != nil && s.RiderID != nil && *rider == *s.RiderID {
		return s.Status, Unchanged
	}
	return t.to, Applied
}

// Equal reports whether two states allow the same moves.
func (s State) Equal(other State) bool {
	sameRider := s.RiderID == nil && other.RiderID == nil || s.RiderID != nil && other.RiderID != nil &&
		*s.RiderID == *other.RiderID
	return s.Status == other.Status && s.CancelledBy == other.CancelledBy && sameRider
}

// Final reports whether no move is possible any more.
func (s State) Final() bool { return len(transitions[s.phase()]) == 0 }

// Revivable reports whether the timer cancelled the order: a late reception can still revive it.
func (s State) Revivable() bool { return s.phase() == autoCancelled }

func (s State) phase() phase {
	if s.Status == StatusCancelled && s.CancelledBy == ByAuto {
		return autoCancelled
	}
	return phase(s.Status)
}
