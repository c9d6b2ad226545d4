package orders

import (
	"cmp"
	"context"
	"slices"
	"time"

	"despacho/internal/clock"
	"despacho/internal/textnorm"
	"despacho/models"
)

// RiderDay is what a rider has today: what is with them, by where it goes, and what they delivered.
type RiderDay struct {
	// Orders are those with the rider, by district and address, then those that they delivered today.
	Orders []RiderOrder
	// InHand counts the packages with the rider, Failed those of them that were tried and not
	// delivered since they were assigned, Delivered those of today.
	InHand, Failed, Delivered int
	// Confirmed is how many of the packages with them the rider has confirmed to have, the latest at
	// ConfirmedAt.
	Confirmed   int
	ConfirmedAt *time.Time
}

// RiderOrder is a package as its rider sees it.
type RiderOrder struct {
	*View
	StoreName string
	NeedsPIN  bool
}

// RiderDay reads the rider's day. The caller is a rider.
func (s *Service) RiderDay(ctx context.Context, caller Caller) (*RiderDay, error) {
	zone := caller.Operator.TimeZone()
	today := clock.DayStart(s.clock.Now().In(zone), zone)
	day := &RiderDay{}
	for _, condition := range []struct {
		where  string
		values []any
	}{
		{"orders.status = ?", []any{models.StatusAssigned}},
		{"orders.status = ? AND orders.delivered_at >= ?", []any{models.StatusDelivered, today}},
	} {
		var rows []models.OrderDetail
		err := caller.Scope().Orders(s.db.OrderViews(ctx, "stores.name AS store_name")).
			Joins("LEFT JOIN stores ON stores.id = orders.store_id").
			Where("orders.rider_id = ?", *caller.RiderID).Where(condition.where, condition.values...).Find(&rows).Error
		if err != nil {
			return nil, err
		}
		slices.SortFunc(rows, compareStops)
		for i := range rows {
			day.add(s, caller, &rows[i])
		}
	}
	return day, nil
}

// compareStops sorts orders by where they go, and delivered ones the latest first.
func compareStops(a, b models.OrderDetail) int {
	if a.DeliveredAt != nil && b.DeliveredAt != nil {
		return b.DeliveredAt.Compare(*a.DeliveredAt)
	}
	return cmp.Or(textnorm.Compare(a.LocationName, b.LocationName), textnorm.Compare(a.DeliveryAddress, b.DeliveryAddress),
		slices.Compare(a.ID[:], b.ID[:]))
}

func (d *RiderDay) add(s *Service, caller Caller, row *models.OrderDetail) {
	order := RiderOrder{View: s.View(caller, &row.OrderView)}
	_, order.NeedsPIN = s.DeliveryPIN(&row.Order, caller.Operator.Rules)
	if row.StoreName != nil {
		order.StoreName = *row.StoreName
	}
	d.Orders = append(d.Orders, order)
	if row.Status == models.StatusDelivered {
		d.Delivered++
		return
	}
	d.InHand++
	if row.State().Substatus != models.SubstatusNone {
		d.Failed++
	}
	if row.LoadedAt != nil {
		d.Confirmed++
		if d.ConfirmedAt == nil || d.ConfirmedAt.Before(*row.LoadedAt) {
			d.ConfirmedAt = utc(row.LoadedAt)
		}
	}
}
