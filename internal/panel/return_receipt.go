package panel

import (
	"cmp"
	"net/http"
	"time"

	"despacho/internal/orders"
	"despacho/internal/panel/neworder"
	"despacho/models"
)

const returnReceiptPath = returnsPath + "/recibo"

// returnReceipt is what a store signs when it gets its packages back, on half a sheet.
type returnReceipt struct {
	Store  string
	At     time.Time
	Orders []*orders.Detail
	Back   string
}

// errNotReturned is for a receipt of what no store has got, or of several stores.
var errNotReturned = orders.ErrMoveRefused.Saying("Un recibo es de los paquetes que una tienda ya recibió de vuelta.")

func (p *Pages) printReturnReceipt(v *Request) error {
	ids := selectedIDs(v.QueryArray("id"))
	switch {
	case len(ids) == 0:
		v.Redirect(http.StatusSeeOther, returnsPath)
		return nil
	case len(ids) > orders.MaxBulk:
		return p.refused(v, returnsPath, orders.ErrTooManySelected)
	}
	details, err := p.Orders.Details(v.Ctx(), v.Caller, ids)
	if err != nil {
		return err
	}
	receipt := returnReceipt{Orders: details, Back: returnsPath, Store: cmp.Or(details[0].StoreName, neworder.NoStore)}
	for _, order := range details {
		returned := order.Substatus != nil && *order.Substatus == models.SubstatusReturned && order.CancelledAt != nil
		if !returned || order.StoreName != details[0].StoreName {
			return p.refused(v, returnsPath, errNotReturned)
		}
		if order.CancelledAt.After(receipt.At) {
			receipt.At = *order.CancelledAt
		}
	}
	return p.showPart(v, "return_receipt", "receipt", receipt)
}
