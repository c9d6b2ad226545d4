package orders

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// Detail is an order with the names of its store and branch.
type Detail struct {
	*View
	// StoreName is empty for the operator's own orders.
	StoreName  string
	BranchName string
	// Erased means that nothing is left to erase. An erased order that was received late may have a
	// photo again.
	Erased bool
}

// Details reads orders by id, in the same order. It returns ErrOrderNotFound if the caller may not
// see one of them.
func (s *Service) Details(ctx context.Context, caller Caller, ids []uuid.UUID) ([]*Detail, error) {
	rows, err := s.details(ctx, caller, ids)
	if err != nil {
		return nil, err
	}
	details := make([]*Detail, len(rows))
	for i, row := range rows {
		details[i] = s.detail(row, caller)
	}
	return details, nil
}

func (s *Service) details(ctx context.Context, caller Caller, ids []uuid.UUID) ([]*models.OrderDetail, error) {
	var found []models.OrderDetail
	query := s.db.OrderViews(ctx, "stores.name AS store_name", "COALESCE(branches.name, '') AS branch_name").
		Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Joins("LEFT JOIN branches ON branches.id = orders.branch_id").
		Where("orders.id IN ?", ids)
	if err := caller.Scope().Orders(query).Find(&found).Error; err != nil {
		return nil, err
	}
	byID := make(map[uuid.UUID]*models.OrderDetail, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	rows := make([]*models.OrderDetail, len(ids))
	for i, id := range ids {
		if rows[i] = byID[id]; rows[i] == nil {
			return nil, ErrOrderNotFound
		}
	}
	return rows, nil
}

func (s *Service) detail(row *models.OrderDetail, caller Caller) *Detail {
	detail := &Detail{View: s.View(caller, &row.OrderView), BranchName: row.BranchName, Erased: row.ErasedAt != nil}
	if row.StoreName != nil {
		detail.StoreName = *row.StoreName
	}
	return detail
}

// OrderPage is an order with its timeline and the moves that are possible next. Only the operator
// sees the timeline entries that are not moves.
type OrderPage struct {
	Order          *Detail
	PointSource    *string
	RiskZone       *string
	DocOutcome     *string
	DocNameMatches *bool
	// Timeline has the names of people and riders only for the operator.
	Timeline []models.TimelineView
	// Corrections are the corrected values, by timeline entry, only for the operator.
	Corrections map[uuid.UUID][]models.Correction
	// Moves are the moves that the caller may request in the current state.
	Moves []models.Move
	// AutoCancelAt is when an order that is not received is cancelled; nil for others.
	AutoCancelAt *time.Time
	// Undo is what can be taken back; nil if nothing can.
	Undo *Undoable
	// RecipientLink is where the recipient decides about the next attempt; empty unless somebody
	// has to.
	RecipientLink string
}

// OrderPage reads an order for its page in the panel.
func (s *Service) OrderPage(ctx context.Context, caller Caller, id uuid.UUID) (*OrderPage, error) {
	rows, err := s.details(ctx, caller, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	order := rows[0]
	timeline, err := s.timeline(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	page := &OrderPage{
		Order: s.detail(order, caller), PointSource: order.PointSource, RiskZone: order.RiskZone,
		DocOutcome: order.DocOutcome, DocNameMatches: order.DocNameMatches, Timeline: timeline,
		Moves:         legalMoves(order.State(), caller.Actor()),
		RecipientLink: s.RecipientLink(&order.Order),
	}
	if page.Undo, err = s.undoable(ctx, caller, &order.Order, timeline); err != nil {
		return nil, err
	}
	if caller.StoreID == nil && hasCorrections(timeline) {
		if page.Corrections, err = s.correctionsByEntry(ctx, id); err != nil {
			return nil, err
		}
	}
	if order.Status == models.StatusRegistered {
		page.AutoCancelAt = utc(&order.AutoCancelAt)
	}
	return page, nil
}

// timeline reads an order's timeline. A store sees the moves and that fields were corrected, and
// not which person did it, nor their photos: those of attempts are with the attempts.
func (s *Service) timeline(ctx context.Context, caller Caller, id uuid.UUID) ([]models.TimelineView, error) {
	entries, err := readTimeline(ctx, s.db, id)
	if err != nil || caller.StoreID == nil {
		return entries, err
	}
	var seen []models.TimelineView
	for _, entry := range entries {
		if entry.Seq != nil || entry.Type == models.TimelineCorrected || entry.Type == models.TimelineDeliveryCorrected {
			entry.UserID, entry.KeyID, entry.RiderID, entry.Photo, entry.ClockOff = nil, nil, nil, nil, nil
			seen = append(seen, models.TimelineView{TimelineEntry: entry.TimelineEntry})
		}
	}
	return seen, nil
}

// correctionTypes are the timeline entries that say what was corrected.
var correctionTypes = []string{
	models.TimelineCorrected, models.TimelineDeliveryCorrected, models.TimelinePointCompleted, models.TimelinePointCorrected,
}

func hasCorrections(timeline []models.TimelineView) bool {
	return slices.ContainsFunc(timeline, func(entry models.TimelineView) bool {
		return slices.Contains(correctionTypes,
			entry.Type)
	})
}

// correctionsByEntry reads what was corrected in an order, in the sequence of correctable.
func (s *Service) correctionsByEntry(ctx context.Context, id uuid.UUID) (map[uuid.UUID][]models.Correction, error) {
	var rows []models.Correction
	err := s.db.Query(ctx).Where("order_id = ?", id).Find(&rows).Error
	byEntry := map[uuid.UUID][]models.Correction{}
	for _, c := range correctable {
		for _, row := range rows {
			if row.Field == c.field {
				byEntry[row.EntryID] = append(byEntry[row.EntryID], row)
			}
		}
	}
	return byEntry, err
}

// PhotoURL is the address of a photo that a correction names, signed now.
func (s *Service) PhotoURL(name string) string {
	return s.options.PhotoURLs.Signed(name, s.clock.Now())
}

func legalMoves(state models.State, by models.Actor) []models.Move {
	var legal []models.Move
	for _, move := range models.Moves {
		if _, verdict := state.Decide(move, by, nil); verdict == models.Applied {
			legal = append(legal, move)
		}
	}
	return legal
}

// Can reports whether the caller may request a move.
func (s *OrderPage) Can(move models.Move) bool { return slices.Contains(s.Moves, move) }
