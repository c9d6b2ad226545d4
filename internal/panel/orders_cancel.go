package panel

import (
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/forms"
)

const bulkCancelPath = ordersPath + "/cancelar"

// bulkCancelPage asks before many orders are cancelled, and shows what became of each.
type bulkCancelPage struct {
	Form *forms.Form
	// Orders are those that can be cancelled, Others those that cannot.
	Orders, Others []*orders.Detail
	Report         *bulkReport
	// Back is the list that the orders were ticked on.
	Back string
}

func bulkCancelForm() *forms.Form {
	return &forms.Form{Action: bulkCancelPath, Submit: "Sí, cancelar estos pedidos", Danger: true, Fields: []forms.Field{
		{Name: "reason", Label: "Motivo", Kind: forms.Text, Wide: true, Hint: "Es el mismo para todos. Los ve la tienda."},
		{Name: "note", Label: "Nota", Kind: forms.Area, Wide: true},
	}}
}

// askToCancel lists the ticked orders.
func (p *Pages) askToCancel(v *Request) error {
	page := &bulkCancelPage{Form: bulkCancelForm(), Back: p.lastList(v)}
	ids := selectedIDs(v.QueryArray("id"))
	switch {
	case len(ids) == 0:
		return p.refused(v, page.Back, orders.ErrNothingSelected)
	case len(ids) > orders.MaxBulk:
		return p.refused(v, page.Back, orders.ErrTooManyToCancel)
	}
	if err := p.addOrders(v, page, ids); err != nil {
		return err
	}
	return p.respondBulkCancel(v, http.StatusOK, page)
}

// cancelOrders cancels the listed orders and shows each result. Those that can be retried are
// listed again.
func (p *Pages) cancelOrders(v *Request) error {
	page := &bulkCancelPage{Form: bulkCancelForm(), Back: p.lastList(v)}
	in, err := p.readForm(v, page.Form)
	if err != nil {
		return err
	}
	ids := selectedIDs(v.Request.PostForm["id"])
	var results []orders.BulkResult
	why, err := orders.ReadCancellation(in)
	if err == nil {
		defer p.extendTimeout(v)()
		results, err = p.Orders.CancelMany(v.Ctx(), v.Caller, ids, why, shownVersions(v))
	}
	status, listed := http.StatusOK, ids
	if err == nil {
		page.Report = cancellationResults.report("Cancelación de pedidos", "Los cancelados", results)
		listed = page.Report.again
	} else {
		if !page.Form.AddError(err) {
			return err
		}
		status = http.StatusUnprocessableEntity
	}
	if err := p.addOrders(v, page, listed[:min(len(listed), orders.MaxBulk)]); err != nil {
		return err
	}
	return p.respondBulkCancel(v, status, page)
}

func (p *Pages) respondBulkCancel(v *Request, status int, page *bulkCancelPage) error {
	return p.show(v, status, "orders_cancel", "Cancelar pedidos", page)
}

// addOrders lists orders by whether the user may cancel them.
func (p *Pages) addOrders(v *Request, page *bulkCancelPage, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	details, err := p.Orders.Details(v.Ctx(), v.Caller, ids)
	for _, order := range details {
		if orders.CanCancel(v.Caller, order.Status) {
			page.Orders = append(page.Orders, order)
		} else {
			page.Others = append(page.Others, order)
		}
	}
	return err
}
