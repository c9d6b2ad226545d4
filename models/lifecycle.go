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

// Substatus says what became of the latest failed attempt at the delivery of an order.
type Substatus string

// The substatuses of an order. Those of a failed attempt come before a decision, the next two after
// it; a returned package is at its store again.
const (
	SubstatusNone Substatus = ""
	// SubstatusAttemptFailed is an order that is still with its rider, SubstatusAwaitingDecision one
	// that is back at the counter.
	SubstatusAttemptFailed    Substatus = "attempt_failed"
	SubstatusAwaitingDecision Substatus = "awaiting_decision"
	SubstatusRetryPlanned     Substatus = "retry_planned"
	SubstatusReturning        Substatus = "returning"
	SubstatusReturned         Substatus = "returned"
)

// Substatuses lists every substatus but none.
var Substatuses = []Substatus{
	SubstatusAttemptFailed, SubstatusAwaitingDecision, SubstatusRetryPlanned, SubstatusReturning, SubstatusReturned,
}

// Label is the display name of the substatus; empty for none.
func (s Substatus) Label() string {
	return map[Substatus]string{
		SubstatusAttemptFailed: "No se pudo entregar", SubstatusAwaitingDecision: "Espera una decisión",
		SubstatusRetryPlanned: "Se intentará otra vez", SubstatusReturning: "Por devolver", SubstatusReturned: "Devuelto",
	}[s]
}

// Undecided reports whether an attempt has failed and nobody has decided what comes next.
func (s Substatus) Undecided() bool {
	return s == SubstatusAttemptFailed || s == SubstatusAwaitingDecision
}

// OrNil is the substatus, nil for none.
func (s Substatus) OrNil() *Substatus {
	if s == SubstatusNone {
		return nil
	}
	return &s
}

// Actor is who makes a move.
type Actor string

// Who can move an order. Auto is a timer: the 24 hours until the reception, or the deadline of a
// decision. The recipient decides on the page of the package.
const (
	ByStore     Actor = "store"
	ByOperator  Actor = "operator"
	ByRider     Actor = "rider"
	ByRecipient Actor = "recipient"
	ByAuto      Actor = "auto"
)

// Move is a transition of an order.
type Move string

// The moves of an order, which are also the names of the workflow's signals and updates.
const (
	MoveCancel  Move = "cancel"
	MoveReceive Move = "received"
	MoveAssign  Move = "assigned"
	MoveDeliver Move = "delivered"
	// MoveFail is an attempt at the delivery that failed. MoveRetry and MoveReturn decide what comes
	// next: another attempt, or the way back to the store, which ends with MoveHandBack.
	MoveFail     Move = "attempt_failed"
	MoveRetry    Move = "retry_planned"
	MoveReturn   Move = "returning"
	MoveHandBack Move = "returned"
	// MoveUndo takes the latest move back. The row says to where.
	MoveUndo Move = "undone"
)

// Moves lists every move.
var Moves = []Move{
	MoveCancel, MoveReceive, MoveAssign, MoveDeliver, MoveFail, MoveRetry, MoveReturn, MoveHandBack, MoveUndo,
}

// Undoable reports whether the move can be taken back.
func (m Move) Undoable() bool {
	return m == MoveReceive || m == MoveAssign || m == MoveDeliver || m == MoveFail
}

// State is the part of an order that decides which moves are legal.
type State struct {
	Status      Status     `json:"status"`
	Substatus   Substatus  `json:"substatus,omitempty"`
	CancelledBy Actor      `json:"cancelled_by,omitempty"`
	RiderID     *uuid.UUID `json:"rider_id,omitempty"`
}

// Verdict is the transition table's result for a move.
type Verdict int

// A move is applied, changes nothing (it repeats what already is), or is refused.
const (
	Refused Verdict = iota
	Applied
	Unchanged
)

// phase is a status with its substatus, and with the one distinction callers do not see: an order
// that the timer cancelled can revive, one that a person cancelled cannot.
type phase struct {
	status    Status
	substatus Substatus
}

// The phases of an order. Those of a failed attempt are twice: the package is with the rider, or
// back at the counter.
var (
	registered         = phase{StatusRegistered, SubstatusNone}
	received           = phase{StatusReceived, SubstatusNone}
	awaitingDecision   = phase{StatusReceived, SubstatusAwaitingDecision}
	retryAtCounter     = phase{StatusReceived, SubstatusRetryPlanned}
	returningAtCounter = phase{StatusReceived, SubstatusReturning}
	assigned           = phase{StatusAssigned, SubstatusNone}
	attemptFailed      = phase{StatusAssigned, SubstatusAttemptFailed}
	retryWithRider     = phase{StatusAssigned, SubstatusRetryPlanned}
	returningWithRider = phase{StatusAssigned, SubstatusReturning}
	delivered          = phase{StatusDelivered, SubstatusNone}
	returned           = phase{StatusCancelled, SubstatusReturned}
	cancelled          = phase{StatusCancelled, SubstatusNone}
	autoCancelled      = phase{StatusCancelled, "auto"}
)

type transition struct {
	to     phase
	actors []Actor
}

var (
	operatorOnly = []Actor{ByOperator}
	inTheStreet  = []Actor{ByOperator, ByRider}
	// deciders may decide once after a failed attempt; the operator may change the decision.
	deciders   = []Actor{ByStore, ByOperator, ByAuto}
	retriers   = []Actor{ByStore, ByOperator, ByRecipient, ByAuto}
	cancellers = []Actor{ByStore, ByOperator, ByAuto}
	// undone goes back to where the row says.
	undone = transition{actors: operatorOnly}
)

// transitions is the one table of legal moves. What is not in it is refused. A package on its way
// to its store is not cancelled before it is there: a cancelled order does not say where it is.
var transitions = map[phase]map[Move]transition{
	registered: {
		MoveReceive: {received, operatorOnly},
		MoveCancel:  {cancelled, cancellers},
	},
	received: {
		MoveAssign: {assigned, operatorOnly},
		MoveCancel: {cancelled, operatorOnly},
		MoveUndo:   undone,
	},
	awaitingDecision: {
		MoveAssign: {assigned, operatorOnly},
		MoveRetry:  {retryAtCounter, retriers},
		MoveReturn: {returningAtCounter, deciders},
		MoveCancel: {cancelled, operatorOnly},
		MoveUndo:   undone,
	},
	retryAtCounter: {
		MoveAssign: {assigned, operatorOnly},
		MoveRetry:  {retryAtCounter, operatorOnly},
		MoveReturn: {returningAtCounter, operatorOnly},
		MoveCancel: {cancelled, operatorOnly},
		MoveUndo:   undone,
	},
	returningAtCounter: {
		MoveHandBack: {returned, operatorOnly},
		MoveRetry:    {retryAtCounter, operatorOnly},
		MoveUndo:     undone,
	},
	assigned: {
		MoveAssign:  {assigned, operatorOnly},
		MoveDeliver: {delivered, inTheStreet},
		MoveFail:    {attemptFailed, inTheStreet},
		MoveReceive: {received, operatorOnly},
		MoveCancel:  {cancelled, operatorOnly},
		MoveUndo:    undone,
	},
	attemptFailed: {
		MoveAssign:  {assigned, operatorOnly},
		MoveDeliver: {delivered, inTheStreet},
		MoveFail:    {attemptFailed, inTheStreet},
		MoveReceive: {awaitingDecision, operatorOnly},
		MoveRetry:   {retryWithRider, retriers},
		MoveReturn:  {returningWithRider, deciders},
		MoveCancel:  {cancelled, operatorOnly},
		MoveUndo:    undone,
	},
	retryWithRider: {
		MoveAssign:  {assigned, operatorOnly},
		MoveDeliver: {delivered, inTheStreet},
		MoveFail:    {attemptFailed, inTheStreet},
		MoveReceive: {retryAtCounter, operatorOnly},
		MoveRetry:   {retryWithRider, operatorOnly},
		MoveReturn:  {returningWithRider, operatorOnly},
		MoveCancel:  {cancelled, operatorOnly},
	},
	returningWithRider: {
		// What was handed over is delivered, whatever was decided meanwhile.
		MoveDeliver: {delivered, inTheStreet},
		MoveReceive: {returningAtCounter, operatorOnly},
		MoveRetry:   {retryWithRider, operatorOnly},
	},
	delivered: {
		MoveUndo: undone,
	},
	autoCancelled: {
		MoveReceive: {received, operatorOnly},
	},
	cancelled: {},
	returned:  {},
}

// Decide checks a move against the transition table and returns the state after it. rider is the
// rider of an assignment and nil for the other moves. The state after MoveUndo is the one before:
// the row says what it becomes.
func (s State) Decide(move Move, by Actor, rider *uuid.UUID) (State, Verdict) {
	t, legal := transitions[s.phase()][move]
	if !legal || !slices.Contains(t.actors, by) {
		return s, Refused
	}
	if move == MoveUndo {
		return s, Applied
	}
	after := State{Status: t.to.status, Substatus: t.to.substatus, RiderID: s.RiderID}
	switch move {
	case MoveAssign:
		if s.Status == StatusAssigned && rider != nil && s.RiderID != nil && *rider == *s.RiderID {
			return s, Unchanged
		}
		after.RiderID = rider
	case MoveReceive:
		after.RiderID = nil
	case MoveCancel, MoveHandBack:
		after.CancelledBy = by
	}
	return after, Applied
}

// Equal reports whether two states allow the same moves.
func (s State) Equal(other State) bool {
	sameRider := s.RiderID == nil && other.RiderID == nil || s.RiderID != nil && other.RiderID != nil &&
		*s.RiderID == *other.RiderID
	return s.Status == other.Status && s.Substatus == other.Substatus && s.CancelledBy == other.CancelledBy && sameRider
}

// Final reports whether no move is possible any more.
func (s State) Final() bool { return len(transitions[s.phase()]) == 0 }

// Revivable reports whether the timer cancelled the order: a late reception can still revive it.
func (s State) Revivable() bool { return s.phase() == autoCancelled }

func (s State) phase() phase {
	if s.Status == StatusCancelled && s.CancelledBy == ByAuto {
		return autoCancelled
	}
	return phase{s.Status, s.Substatus}
}
