package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/guidecode"
	"despacho/models"
	"despacho/workflows"
)

// ReceptionOutcome is what came of scanning a package at the counter.
type ReceptionOutcome string

// A package is taken in, takes its order up again that the timer had cancelled, was taken in
// before, or is not to be taken in; or the code leads to no order.
const (
	ReceptionDone     ReceptionOutcome = "received"
	ReceptionRevived  ReceptionOutcome = "revived"
	ReceptionRepeated ReceptionOutcome = "repeated"
	ReceptionRefused  ReceptionOutcome = "refused"
	ReceptionUnknown  ReceptionOutcome = "unknown"
	ReceptionMisread  ReceptionOutcome = "misread"
	ReceptionNotACode ReceptionOutcome = "not_a_code"
)

// Reception is the answer to one scan.
type Reception struct {
	Outcome ReceptionOutcome
	// Order is as it stands afterwards; nil where the code leads to none.
	Order    *View
	RiskZone *string
	// ExpectedAt is the branch that the store had named.
	ExpectedAt uuid.UUID
}

// ReceiveByGuide takes in the package with the guide code that was scanned or typed. What a person
// at the counter can be told is an outcome; an error is what can be tried again.
func (s *Service) ReceiveByGuide(ctx context.Context, caller Caller, typed string, branchID *uuid.UUID) (*Reception, error) {
	code, err := guidecode.Scan(typed)
	switch {
	case err == nil:
	case errors.Is(err, guidecode.ErrCheck):
		return &Reception{Outcome: ReceptionMisread}, nil
	default:
		return &Reception{Outcome: ReceptionNotACode}, nil
	}
	if err := s.checkBranch(ctx, caller, branchID); err != nil {
		return nil, err
	}
	order, err := s.db.OrderViewByGuide(ctx, caller.Scope(), code)
	if db.IsNotFound(err) {
		return &Reception{Outcome: ReceptionUnknown}, nil
	}
	if err != nil {
		return nil, err
	}
	reception := &Reception{Outcome: ReceptionDone, RiskZone: order.RiskZone, ExpectedAt: order.BranchID}
	if order.State().Revivable() {
		reception.Outcome = ReceptionRevived
	}
	reception.Order, err = s.moveFound(ctx, caller, order, models.MoveReceive, nil, workflows.ReceivedName, workflows.Received{BranchID: branchID})
	if errors.Is(err, ErrMoveRefused) {
		return s.notReceived(ctx, caller, order.ID, reception)
	}
	return reception, err
}

// notReceived tells a package that is here already from one that is not to be taken in. The order
// is read again: another counter may have received it meanwhile.
func (s *Service) notReceived(ctx context.Context, caller Caller, id uuid.UUID, reception *Reception) (*Reception, error) {
	var err error
	if reception.Order, err = s.Get(ctx, caller, id); err != nil {
		return nil, err
	}
	reception.Outcome = ReceptionRefused
	if reception.Order.Status == models.StatusReceived {
		reception.Outcome = ReceptionRepeated
	}
	return reception, nil
}

// Receptions are the packages taken in on one day.
type Receptions struct {
	Latest []*View
	Total  int64
}

// ReceivedToday reads today's latest receptions, on the operator's calendar, and how many there
// were.
func (s *Service) ReceivedToday(ctx context.Context, caller Caller, limit int) (*Receptions, error) {
	zone := caller.Operator.TimeZone()
	rows, total, err := s.db.OrdersReceivedSince(ctx, caller.Scope(), dayStart(s.clock.Now().In(zone), zone), limit)
	if err != nil {
		return nil, err
	}
	received := &Receptions{Latest: make([]*View, len(rows)), Total: total}
	for i := range rows {
		received.Latest[i] = s.view(&rows[i], caller.SeesProofLocation())
	}
	return received, nil
}
