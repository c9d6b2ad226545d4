package orders

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/money"
	"despacho/models"
)

// Selection is which orders of a list a bulk move takes, oldest first.
type Selection struct {
	// Move selects the orders that it can move; empty selects every order.
	Move models.Move
	// Until is when the person saw the list: later orders are not selected.
	Until time.Time
	// Still means that the orders have had their status since then: those that came to it later are
	// not selected either.
	Still bool
	// After is the last order of the step before; nil begins with the oldest.
	After *uuid.UUID
	// Except are not selected.
	Except []uuid.UUID
	Limit  int
}

// CanMove reports whether the caller may make a move of an order.
func CanMove(caller Caller, order *View, move models.Move) bool {
	substatus := models.SubstatusNone
	if order.Substatus != nil {
		substatus = *order.Substatus
	}
	return canMove(caller, order.Status, substatus, move)
}

func canMove(caller Caller, status models.Status, substatus models.Substatus, move models.Move) bool {
	_, verdict := models.State{Status: status, Substatus: substatus}.Decide(move, caller.Actor(), &uuid.Nil)
	return verdict == models.Applied
}

// Movable reads the ids of a list's orders that can be moved.
func (s *Service) Movable(ctx context.Context, caller Caller, query Query, selection Selection) ([]uuid.UUID, error) {
	selected, err := s.selected(ctx, caller, query, selection)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	err = selected.Order("orders.created_at, orders.id").Limit(selection.Limit).Pluck("orders.id", &ids).Error
	return ids, err
}

// selected are the orders of a selection, in no order.
func (s *Service) selected(ctx context.Context, caller Caller, query Query, selection Selection) (*gorm.DB, error) {
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	selected := filter.withStatus(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).
		Where("orders.created_at <= ?", selection.Until)
	if selection.Move != "" {
		statuses, substatuses := movable(caller, selection.Move)
		selected = selected.Where("orders.status IN ? AND COALESCE(orders.substatus, '') IN ?", statuses, substatuses)
	}
	if selection.Still {
		selected = selected.Where(statusSince+" <= ?", selection.Until)
	}
	if len(selection.Except) > 0 {
		selected = selected.Where("orders.id NOT IN ?", selection.Except)
	}
	if selection.After != nil {
		selected = selected.Where("(orders.created_at, orders.id) > (SELECT o.created_at, o.id FROM orders o WHERE o.id = ?)",
			*selection.After)
	}
	return selected, nil
}

// statusSince is since when an order waits for a rider, or has the one that it has.
const statusSince = "CASE orders.status WHEN 'assigned' THEN orders.assigned_at ELSE orders.received_at END"

// LatestStatus is when the last of a list's orders came to its status, received or assigned; zero
// if there are none.
func (s *Service) LatestStatus(ctx context.Context, caller Caller, query Query) (time.Time, error) {
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return time.Time{}, err
	}
	column := "orders.received_at"
	if query.Status == models.StatusAssigned {
		column = "orders.assigned_at"
	}
	var latest []time.Time
	err = filter.withStatus(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).
		Order(column+" DESC").Limit(1).Pluck(column, &latest).Error
	if err != nil || len(latest) == 0 {
		return time.Time{}, err
	}
	return latest[0], nil
}

// movable are the statuses and the substatuses of the orders that can be moved. That a substatus
// allows a move in one status and not in another that allows it too does not occur.
func movable(caller Caller, move models.Move) (statuses []models.Status, substatuses []models.Substatus) {
	all := append([]models.Substatus{models.SubstatusNone}, models.Substatuses...)
	for _, status := range models.Statuses {
		legal := slices.DeleteFunc(slices.Clone(all), func(of models.Substatus) bool { return !canMove(caller, status, of, move) })
		if len(legal) > 0 {
			statuses, substatuses = append(statuses, status), append(substatuses, legal...)
		}
	}
	return statuses, substatuses
}

// MovableCount is how many orders of a list can be moved, what is to be collected for them, and how
// many others there are.
type MovableCount struct {
	Movable, Others int64
	ToCollect       money.Cents
}

// CountMovable counts a list's orders by whether they can be moved.
func (s *Service) CountMovable(
	ctx context.Context, caller Caller, query Query, move models.Move, until time.Time,
) (MovableCount, error) {
	var count MovableCount
	movable, err := s.selected(ctx, caller, query, Selection{Move: move, Until: until})
	if err != nil {
		return count, err
	}
	if err := movable.Select("COUNT(*), "+sumToCollect).Row().
		Scan(&count.Movable, &count.ToCollect); err != nil {
		return count, err
	}
	all, err := s.selected(ctx, caller, query, Selection{Until: until})
	if err != nil {
		return count, err
	}
	err = all.Count(&count.Others).Error
	count.Others -= count.Movable
	return count, err
}
