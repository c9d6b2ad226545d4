package panel

import (
	"despacho/internal/orders"
	"despacho/models"
)

// TodayLists are the addresses of the lists whose totals orders.Today has.
type TodayLists struct {
	ToReceive, ToAssign, OutSinceYesterday, Expiring, AmountDiffers, Undecided, DueToday, NotLoaded, Returning, Delivered,
	FailingWebhooks string
}

// TodayListsOf names the lists of figures that were read.
func TodayListsOf(today *orders.Today) TodayLists {
	list := func(query orderQuery) string { return query.at(ordersPath) }
	return TodayLists{
		ToReceive:         list(orderQuery{Status: models.StatusRegistered}),
		ToAssign:          list(orderQuery{Status: models.StatusReceived}),
		OutSinceYesterday: list(orderQuery{Status: models.StatusAssigned, OutSinceYesterday: true}),
		Expiring:          list(orderQuery{Status: models.StatusRegistered, Expiring: true}),
		AmountDiffers: list(orderQuery{Status: models.StatusDelivered, AmountDiffers: true, Date: byDelivery,
			Days: days{From: &today.DiffersFrom}}),
		Undecided: list(orderQuery{Undecided: true}), DueToday: list(orderQuery{DueToday: true}),
		NotLoaded: list(orderQuery{Status: models.StatusAssigned, NotLoaded: true}), Returning: list(orderQuery{Returning: true}),
		Delivered: list(orderQuery{Status: models.StatusDelivered, Date: byDelivery,
			Days: days{From: &today.Day, To: &today.Day}}),
		FailingWebhooks: webhooksPath + "?" + failingParameter + "=1",
	}
}
