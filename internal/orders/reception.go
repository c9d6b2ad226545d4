package orders

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/guidecode"
	"despacho/models"
)

// ReceptionOutcome is the outcome of scanning a package.
type ReceptionOutcome string

// The package was received, revived its auto-cancelled order, was taken back from its rider, was
// received before, or is refused; or the code matches no order, has a wrong check character, or is
// no guide code.
const (
	ReceptionDone      ReceptionOutcome = "received"
	ReceptionRevived   ReceptionOutcome = "revived"
	ReceptionTakenBack ReceptionOutcome = "taken_back"
	ReceptionRepeated  ReceptionOutcome = "repeated"
	ReceptionRefused   ReceptionOutcome = "refused"
	ReceptionUnknown   ReceptionOutcome = "unknown"
	ReceptionMisread   ReceptionOutcome = "misread"
	ReceptionNotACode  ReceptionOutcome = "not_a_code"
)

// Reception is the result of one scan.
type Reception struct {
	Outcome ReceptionOutcome
	// Order is the order after the scan; nil if the code matches none.
	Order    *View
	RiskZone *string
	// ExpectedAt is the branch that the order named.
	ExpectedAt uuid.UUID
	// Rider is who brought a package back that was taken back.
	Rider *RiderView
}

// Scan is what a reception desk sends.
type Scan struct {
	// Typed is the guide code as it was scanned or typed.
	Typed string
	// BranchID is the branch that receives; nil is the one that the order names.
	BranchID *uuid.UUID
	// SentBefore is how long ago the same scan was first sent, if no answer to it has arrived.
	SentBefore time.Duration
}

// clockSkew is how much the clocks of the api and of Temporal may differ where a reception is
// compared with its request.
const clockSkew = 5 * time.Second

// ReceiveByGuideCode receives the package with the scanned or typed guide code. What the user can
// act on is an outcome; an error can be retried.
func (s *Service) ReceiveByGuideCode(ctx context.Context, caller Caller, scan Scan) (*Reception, error) {
	code, problem := readScan(scan.Typed)
	if problem != "" {
		return &Reception{Outcome: problem}, nil
	}
	if err := s.checkBranch(ctx, caller, scan.BranchID); err != nil {
		return nil, err
	}
	order, err := s.findByCode(ctx, caller, code)
	if errors.Is(err, ErrOrderNotFound) {
		return &Reception{Outcome: ReceptionUnknown}, nil
	}
	if err != nil {
		return nil, err
	}
	reception := &Reception{Outcome: ReceptionDone, RiskZone: order.RiskZone, ExpectedAt: order.BranchID}
	switch {
	case order.State().Revivable():
		reception.Outcome = ReceptionRevived
	case order.Status == models.StatusAssigned && s.assignedSince(order, scan):
		reception.Outcome, reception.Order = ReceptionRefused, s.View(caller, order)
		return reception, nil
	case order.Status == models.StatusAssigned:
		reception.Outcome, reception.Rider = ReceptionTakenBack, riderView(order)
	}
	reception.Order, err = s.moveOrder(ctx, caller, order, models.Message{Move: models.MoveReceive, BranchID: scan.BranchID},
		"")
	if errors.Is(err, ErrMoveRefused) {
		return s.classifyRefusal(ctx, caller, order.ID, scan, reception)
	}
	return reception, err
}

// assignedSince reports whether a rider got the package after the scan was first sent. The answer
// to it was lost: sent again, it must not take the package back.
func (s *Service) assignedSince(order *models.OrderView, scan Scan) bool {
	return scan.SentBefore > 0 && order.AssignedAt != nil && order.AssignedAt.After(s.clock.Now().Add(-scan.SentBefore))
}

// readScan reads the guide code that was scanned or typed. Without one, problem says why.
func readScan(typed string) (code string, problem ReceptionOutcome) {
	code, err := guidecode.Scan(typed)
	switch {
	case err == nil:
		return code, ""
	case errors.Is(err, guidecode.ErrCheck):
		return "", ReceptionMisread
	}
	return "", ReceptionNotACode
}

// findByCode reads the order with a guide code. It returns ErrOrderNotFound if the caller may not
// see one.
func (s *Service) findByCode(ctx context.Context, caller Caller, code string) (*models.OrderView, error) {
	order := &models.OrderView{}
	err := caller.Scope().Orders(s.db.OrderViews(ctx)).Where("orders.guide_code = ?", code).Take(order).Error
	if db.IsNotFound(err) {
		return nil, ErrOrderNotFound
	}
	return order, err
}

// FindScanned is the order with the scanned or typed guide code. Without one, problem says why.
func (s *Service) FindScanned(ctx context.Context, caller Caller, typed string) (order *View, problem ReceptionOutcome, err error) {
	code, problem := readScan(typed)
	if problem != "" {
		return nil, problem, nil
	}
	found, err := s.findByCode(ctx, caller, code)
	if errors.Is(err, ErrOrderNotFound) {
		return nil, ReceptionUnknown, nil
	}
	if err != nil {
		return nil, "", err
	}
	return s.View(caller, found), "", nil
}

// classifyRefusal distinguishes a package that was already received from one that is refused. It
// rereads the order, which another user may have received meanwhile.
func (s *Service) classifyRefusal(
	ctx context.Context, caller Caller, id uuid.UUID, scan Scan, reception *Reception,
) (*Reception, error) {
	var err error
	if reception.Order, err = s.Get(ctx, caller, id); err != nil {
		return nil, err
	}
	reception.Outcome = ReceptionRefused
	if reception.Order.Status == models.StatusReceived {
		err = s.answerReceived(ctx, caller, id, scan, reception)
	}
	return reception, err
}

// answerReceived finds the outcome of a scan of a received order. A scan whose first answer was
// lost may have received it: it is shown as if that answer had arrived, with its warnings.
func (s *Service) answerReceived(
	ctx context.Context, caller Caller, id uuid.UUID, scan Scan, reception *Reception,
) error {
	reception.Outcome = ReceptionRepeated
	if scan.SentBefore <= 0 || caller.UserID == nil {
		return nil
	}
	moves, err := readMoves(ctx, s.db, id)
	if err != nil || len(moves) < 2 {
		return err // an order is created before it is received
	}
	before, last := moves[len(moves)-2], moves[len(moves)-1]
	firstSent := s.clock.Now().Add(-scan.SentBefore)
	switch {
	case last.UserID == nil || *last.UserID != *caller.UserID || last.At.Before(firstSent.Add(-clockSkew)):
	case before.Status == models.StatusCancelled:
		reception.Outcome = ReceptionRevived
	case before.Status == models.StatusAssigned && last.RiderID != nil:
		reception.Outcome = ReceptionTakenBack
		var rider models.Rider
		err = s.db.Query(ctx).Where("id = ? AND operator_id = ?", *last.RiderID, caller.Operator.ID).Take(&rider).Error
		reception.Rider = &RiderView{Name: rider.Name, Phone: rider.Phone}
	default:
		reception.Outcome = ReceptionDone
	}
	return err
}

// Receptions are the receptions of one day.
type Receptions struct {
	Latest []*View
	Total  int64
}

// ReceivedToday reads the latest receptions of today in the operator's time zone, and their count.
func (s *Service) ReceivedToday(ctx context.Context, caller Caller, limit int) (*Receptions, error) {
	zone := caller.Operator.TimeZone()
	today := clock.DayStart(s.clock.Now().In(zone), zone)
	scope, received := caller.Scope(), &Receptions{}
	err := scope.Orders(s.db.Query(ctx).Table("orders")).Where("orders.received_at >= ?", today).Count(&received.Total).Error
	if err != nil {
		return nil, err
	}
	var rows []models.OrderView
	err = scope.Orders(s.db.OrderViews(ctx)).Where("orders.received_at >= ?", today).
		Order("orders.received_at DESC, orders.id DESC").Limit(limit).Find(&rows).Error
	received.Latest = s.views(caller, rows)
	return received, err
}
