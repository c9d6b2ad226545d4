package panel

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/clock"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/textnorm"
	"despacho/models"
)

const routeSheetPath = "/panel/hoja"

// routeSheet is what a rider takes along for a day: the stops that are left, by district, and what
// they have delivered.
type routeSheet struct {
	Rider models.Rider
	At    time.Time
	// Day is the date, YYYY-MM-DD; Today is the last one that there is a sheet of.
	Day, Today string
	Places     []sheetPlace
	// Later are the packages whose next attempt is on another day, Returning those that go back to
	// their stores: the rider has them, and delivers none of them on the day.
	Later, Returning []*orders.View
	Delivered        []*orders.View
	Collected        money.Cents
	sheetTotals
	// Messages are the conversations with the rider that have the stops.
	Messages []sheetMessage
	Back     string
}

// sheetPlace are the stops in one district.
type sheetPlace struct {
	Name  string
	Stops []sheetStop
	sheetTotals
}

type sheetStop struct {
	*orders.View
	Number int
	// Collect is the text about the amount to collect, and Fixed means that there is one and that
	// it is known.
	Collect string
	Fixed   bool
}

// sheetTotals are what stops come to.
type sheetTotals struct {
	Count     int
	ToCollect money.Cents
	// Unfixed is how many packages are paid on delivery with an amount that the store has not fixed.
	Unfixed int
}

func (t *sheetTotals) add(order *orders.View) {
	t.Count++
	t.ToCollect += order.AmountToCollect
	if unfixed(order) {
		t.Unfixed++
	}
}

// Packages is how many there are.
func (t sheetTotals) Packages() string {
	return format.Number(int64(t.Count)) + format.Plural(t.Count, " paquete", " paquetes")
}

// IsToday reports whether the sheet is of today. One of another day has what the rider has
// delivered then and what has been with them since: nothing says what else they had.
func (s *routeSheet) IsToday() bool { return s.Day == s.Today }

// DayText is the date as people write it.
func (s *routeSheet) DayText() string { return format.Day(s.Day) }

// routeSheetOf is the address of a rider's sheet.
func routeSheetOf(rider uuid.UUID) string {
	return routeSheetPath + "?" + url.Values{"motorizado": {rider.String()}}.Encode()
}

func (p *Pages) showRouteSheet(v *Request) error {
	onTheWay := assignmentQuery{Status: models.StatusAssigned, Rider: v.Query("motorizado")}
	if onTheWay.Rider == "" {
		v.Redirect(http.StatusSeeOther, onTheWay.at(assignmentPath))
		return nil
	}
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(riders, func(rider models.Rider) bool { return rider.ID.String() == onTheWay.Rider })
	if i < 0 {
		return p.Operators.Riders().NotFound()
	}
	page := &routeSheet{Rider: riders[i], At: p.Clock.Now(), Day: p.today(v), Today: p.today(v), Back: onTheWay.at(assignmentPath)}
	if day := optionalDay(v.Query("dia")); day != nil && dateText(day) < page.Today {
		page.Day = dateText(day)
	}
	if err := p.fillRouteSheet(v, page); err != nil {
		return err
	}
	page.Messages = sheetMessages(v.Operator(), page)
	return p.showPart(v, "route_sheet", "sheet", page)
}

// fillRouteSheet reads what the rider carries and has carried since the day, and what they
// delivered on it.
func (p *Pages) fillRouteSheet(v *Request, page *routeSheet) error {
	day, zone := optionalDay(page.Day), v.Operator().TimeZone()
	end := clock.DayStart(day.AddDate(0, 0, 1), zone)
	var stops []*orders.View
	query := orders.Query{Status: models.StatusAssigned, RiderID: &page.Rider.ID}
	err := p.Orders.Each(v.Ctx(), v.Caller, query, func(order *orders.View) error {
		switch {
		case order.AssignedAt != nil && !order.AssignedAt.Before(end):
		case order.Substatus != nil && *order.Substatus == models.SubstatusReturning:
			page.Returning = append(page.Returning, order)
		case order.NextAttemptOn != nil && *order.NextAttemptOn > page.Day:
			page.Later = append(page.Later, order)
		default:
			stops = append(stops, order)
		}
		return nil
	})
	if err != nil {
		return err
	}
	query = orders.Query{Status: models.StatusDelivered, RiderID: &page.Rider.ID, ByDelivery: true, From: day, To: day}
	err = p.Orders.Each(v.Ctx(), v.Caller, query, func(order *orders.View) error {
		page.Delivered = append(page.Delivered, order)
		if order.ActualAmountCollected != nil {
			page.Collected += *order.ActualAmountCollected
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(page.Delivered, func(a, b *orders.View) int { return a.DeliveredAt.Compare(*b.DeliveredAt) })
	index, err := p.Catalog.Index(v.Ctx())
	if err == nil {
		page.place(index, stops)
	}
	return err
}

// place lists the stops by district and address.
func (s *routeSheet) place(index *catalog.Index, stops []*orders.View) {
	slices.SortStableFunc(stops, func(a, b *orders.View) int {
		return cmp.Or(textnorm.Compare(index.PathName(a.LocationID), index.PathName(b.LocationID)),
			textnorm.Compare(a.DeliveryAddress, b.DeliveryAddress))
	})
	for i, order := range stops {
		name := index.PathName(order.LocationID)
		if i == 0 || s.Places[len(s.Places)-1].Name != name {
			s.Places = append(s.Places, sheetPlace{Name: name})
		}
		place := &s.Places[len(s.Places)-1]
		stop := sheetStop{View: order, Number: i + 1}
		stop.Collect, stop.Fixed = collect(order)
		place.Stops = append(place.Stops, stop)
		place.add(order)
		s.add(order)
	}
}
