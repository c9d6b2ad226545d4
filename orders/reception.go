package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/clock"
	"despacho/internal/guidecode"
	"despacho/models"
	"despacho/workflows"
)

// ReceptionOutcome is the outcome of scanning a package.
type ReceptionOutcome string

// The package was received, revived its auto-cancelled order, was received before, or is refused;
// or the code matches no order, has a wrong check character, or is no guide code.
const (
	ReceptionDone     ReceptionOutcome = "received"
	ReceptionRevived  ReceptionOutcome = "revived"
	ReceptionRepeated ReceptionOutcome = "repeated"
	ReceptionRefused  ReceptionOutcome = "refused"
	ReceptionUnknown  ReceptionOutcome = "unknown"
	ReceptionMisread  ReceptionOutcome = "misread"
	ReceptionNotACode ReceptionOutcome = "not_a_code"
)

// Reception is the result of one scan.
type Reception struct {
	Outcome ReceptionOutcome
	// Order is the order after the scan; nil if the code matches none.
	Order    *View
	RiskZone *string
	// ExpectedAt is the branch that the order named.
	ExpectedAt uuid.UUID
}

// ReceiveByGuideCode receives the package with the scanned or typed guide code. What the user can
// act on is an outcome; an error can be retried.
func (s *Service) ReceiveByGuideCode(ctx context.Context, caller Caller, typed string, branchID *uuid.UUID) (*Reception, error) {
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
	order, err := s.db.OrderViewByGuideCode(ctx, caller.Scope(), code)
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
	reception.Order, err = s.moveOrder(ctx, caller, order, workflows.Received{BranchID: branchID}, "")
	if errors.Is(err, ErrMoveRefused) {
		return s.classifyRefusal(ctx, caller, order.ID, reception)
	}
	return reception, err
}

// classifyRefusal distinguishes a package that was already received from one that is refused. It
// rereads the order, which another user may have received meanwhile.
func (s *Service) classifyRefusal(ctx context.Context, caller Caller, id uuid.UUID, reception *Reception) (*Reception, error) {
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

// Receptions are the receptions of one day.
type Receptions struct {
	Latest []*View
	Total  int64
}

// ReceivedToday reads the latest receptions of today in the operator's time zone, and their count.
func (s *Service) ReceivedToday(ctx context.Context, caller Caller, limit int) (*Receptions, error) {
	zone := caller.Operator.TimeZone()
	rows, total, err := s.db.OrdersReceivedSince(ctx, caller.Scope(), clock.DayStart(s.clock.Now().In(zone), zone), limit)
	if err != nil {
		return nil, err
	}
	received := &Receptions{Latest: make([]*View, len(rows)), Total: total}
	for i := range rows {
		received.Latest[i] = s.View(caller, &rows[i])
	}
	return received, nil
}
