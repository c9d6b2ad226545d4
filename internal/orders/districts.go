package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/money"
)

// LocationCount is the number of orders to a location, and what is to be collected for them.
type LocationCount struct {
	LocationID uuid.UUID
	Orders     int64
	ToCollect  money.Cents
	// Unfixed is how many are paid on delivery with an amount that the store has not fixed.
	Unfixed int64
}

// Destinations counts the orders of a list by location, whichever location the query selects.
func (s *Service) Destinations(ctx context.Context, caller Caller, query Query) ([]LocationCount, error) {
	query.LocationID = nil
	filter, err := s.filter(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	var counts []LocationCount
	err = filter.withStatus(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).
		Select("orders.location_id, COUNT(*) AS orders, " + sumToCollect + " AS to_collect, " + countUnfixed + " AS unfixed").
		Group("orders.location_id").Scan(&counts).Error
	return counts, err
}

const (
	sumToCollect = "CAST(COALESCE(SUM(orders.amount_to_collect_cents), 0) AS BIGINT)"
	countUnfixed = "COUNT(CASE WHEN orders.amount_to_collect_cents = 0 AND orders.payment_type = 'cash_on_delivery' THEN 1 END)"
)

// selectDistricts goes through the index from one location to the next: it reads as many entries as
// there are locations, however many orders go to them.
const selectDistricts = `
	WITH RECURSIVE found (id) AS (
		SELECT (SELECT location_id FROM orders WHERE operator_id = @operator AND test = @test ORDER BY location_id LIMIT 1)
		UNION ALL
		SELECT (SELECT location_id FROM orders WHERE operator_id = @operator AND test = @test AND location_id > found.id
			ORDER BY location_id LIMIT 1)
		FROM found WHERE found.id IS NOT NULL
	)
	SELECT id FROM found WHERE id IS NOT NULL`

// Districts are the locations that the operator has orders to, whatever became of them. A store is
// not told where those of the other stores go: it gets none.
func (s *Service) Districts(ctx context.Context, caller Caller) ([]uuid.UUID, error) {
	if caller.StoreID != nil {
		return nil, nil
	}
	var found []uuid.UUID
	err := s.db.Query(ctx).Raw(selectDistricts, map[string]any{"operator": caller.Operator.ID, "test": caller.Test}).
		Scan(&found).Error
	return found, err
}
