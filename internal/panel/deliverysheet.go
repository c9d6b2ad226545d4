package panel

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/textnorm"
	"despacho/models"
)

const deliverySheetPath = "/panel/hoja"

// deliverySheet is what a rider takes along on paper: the packages that they carry.
type deliverySheet struct {
	Rider models.Rider
	At    time.Time
	// Orders are sorted by where they go.
	Orders []*orders.View
	Total  money.Cents
	// Open is how many packages are paid on delivery with an amount that the store has not fixed.
	Open int
	Back string
}

// Packages is how many there are.
func (s deliverySheet) Packages() string { return format.Number(int64(len(s.Orders))) }

// deliverySheetOf is the address of a rider's sheet.
func deliverySheetOf(rider uuid.UUID) string {
	return deliverySheetPath + "?" + url.Values{"motorizado": {rider.String()}}.Encode()
}

func (p *Pages) printDeliverySheet(v *Request) error {
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
	page := deliverySheet{Rider: riders[i], At: p.Clock.Now(), Back: onTheWay.at(assignmentPath)}
	query := orders.Query{Status: models.StatusAssigned, RiderID: &riders[i].ID}
	err = p.Orders.Each(v.Ctx(), v.Caller, query, func(order *orders.View) error {
		page.Orders = append(page.Orders, order)
		page.Total += order.AmountToCollect
		if _, fixed := collect(order); !fixed && order.PaymentType == models.CashOnDelivery {
			page.Open++
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(page.Orders, func(a, b *orders.View) int {
		return cmp.Or(textnorm.Compare(a.Location.Name, b.Location.Name), textnorm.Compare(a.DeliveryAddress, b.DeliveryAddress))
	})
	return p.showPart(v, "delivery_sheet", "sheet", page)
}
