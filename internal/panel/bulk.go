package panel

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// bulkMove is a move of the orders that are ticked in the list, or of all that match its filter.
type bulkMove struct {
	path, title string
	needs       models.Permission
	move        models.Move
	// can and canMany are what the preview says of the orders that can be moved, cannot of the others.
	can, canMany, cannot string
	results              bulkWords
	settled              string
	// amounts means that the preview asks for what was collected for each order.
	amounts bool
	form    func(p *Pages, v *Request) (*forms.Form, error)
	run     func(p *Pages, v *Request, in *jsonbody.Object, ids []uuid.UUID) ([]orders.BulkResult, error)
}

var bulkMoves = []bulkMove{
	{
		path: ordersPath + "/asignar", title: "Asignar pedidos", needs: models.DispatchWrite, move: models.MoveAssign,
		can: "Se asignará 1.", canMany: "Se asignarán %.", cannot: "No se pueden asignar",
		results: assignmentResults, settled: "Los asignados",
		form: func(p *Pages, v *Request) (*forms.Form, error) {
			riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
			form := riderForm(riders)
			form.Submit, form.Fields[0].Focus = "Asignar", true
			return form, err
		},
		run: func(p *Pages, v *Request, in *jsonbody.Object, ids []uuid.UUID) ([]orders.BulkResult, error) {
			rider := in.RequiredUUID("rider_id")
			if err := in.Err(); err != nil {
				return nil, err
			}
			return p.Orders.AssignMany(v.Ctx(), v.Caller, rider, ids, shownVersions(v))
		},
	},
	{
		path: ordersPath + "/recibir", title: "Recibir pedidos", needs: models.CounterWrite, move: models.MoveReceive,
		can:     "Se recibirá 1. El paquete tiene que estar aquí. Si está en reparto, vuelve de su motorizado.",
		canMany: "Se recibirán %. Los paquetes tienen que estar aquí. Los que están en reparto vuelven de su motorizado.",
		cannot:  "No se pueden recibir", results: receptionResults, settled: "Los recibidos",
		form: func(p *Pages, v *Request) (*forms.Form, error) {
			page, err := p.reception(v, "")
			if err != nil {
				return nil, err
			}
			return &forms.Form{Submit: "Recibir", Fields: []forms.Field{
				{Name: "branch_id", Label: "Sucursal que recibe", Kind: forms.Choice, Options: page.Branches},
			}}, nil
		},
		run: func(p *Pages, v *Request, in *jsonbody.Object, ids []uuid.UUID) ([]orders.BulkResult, error) {
			branch := in.UUID("branch_id")
			if err := in.Err(); err != nil {
				return nil, err
			}
			return p.Orders.ReceiveMany(v.Ctx(), v.Caller, branch, ids, shownVersions(v))
		},
	},
	{
		path: ordersPath + "/cancelar", title: "Cancelar pedidos", needs: models.OrderWrite, move: models.MoveCancel,
		can:     "Se cancelará 1. No se podrá volver a poner en marcha.",
		canMany: "Se cancelarán %. No se podrán volver a poner en marcha.",
		cannot:  "No se pueden cancelar", results: cancellationResults, settled: "Los cancelados",
		form: func(*Pages, *Request) (*forms.Form, error) {
			return &forms.Form{Submit: "Sí, cancelar estos pedidos", Danger: true, Fields: []forms.Field{
				{Name: "reason", Label: "Motivo", Kind: forms.Text, Wide: true, Hint: "Es el mismo para todos. Los ve la tienda."},
				{Name: "note", Label: "Nota", Kind: forms.Area, Wide: true},
			}}, nil
		},
		run: func(p *Pages, v *Request, in *jsonbody.Object, ids []uuid.UUID) ([]orders.BulkResult, error) {
			why, err := orders.ReadCancellation(in)
			if err != nil {
				return nil, err
			}
			return p.Orders.CancelMany(v.Ctx(), v.Caller, ids, why, shownVersions(v))
		},
	},
}

// routes are the routes of a bulk move: its preview, and the move.
func (b bulkMove) routes(p *Pages) []Route {
	return []Route{
		{http.MethodGet, b.path, b.needs, func(v *Request) error { return p.previewBulk(v, b) }},
		{http.MethodPost, b.path, b.needs, func(v *Request) error { return p.moveBulk(v, b) }},
	}
}

// bulkPage asks before many orders are moved, and shows what became of each.
type bulkPage struct {
	bulkMove
	Title string
	Form  *forms.Form
	// Orders are those that can be moved, Others those that cannot; of all that match there are only
	// the numbers.
	Orders, Others []*orders.Detail
	Movable, Left  int64
	// ToCollect is what is to be collected for those that can be moved.
	ToCollect money.Cents
	Report    *bulkReport
	// All is set for all orders that match the list's filter.
	All *allMatching
	// Back is the list that the orders were ticked on, and BackName its name.
	Back, BackName string

	// typed are the values that were sent.
	typed url.Values
}

// allMatching are the orders of a list that were there when the preview was shown, in steps of
// orders.MaxBulk. What a step refuses is not in the next one, which begins after the last order.
type allMatching struct {
	Seen  time.Time
	After *uuid.UUID
	// Done is how many orders the steps until now have moved.
	Done int
	// Goes means that the next step can follow without being asked for.
	Goes bool
	// Given are the values of the form that the next step has too.
	Given url.Values
	// Rest is what else the next step is about.
	Rest url.Values
}

// Can says what will happen.
func (page *bulkPage) Can() string {
	if page.Movable == 1 {
		return page.can
	}
	return replaceNumber(page.canMany, page.Movable)
}

// Cannot is the title of the orders that cannot be moved.
func (page *bulkPage) Cannot() string { return page.cannot }

func (p *Pages) newBulkPage(v *Request, b bulkMove) (*bulkPage, error) {
	form, err := b.form(p, v)
	if err != nil {
		return nil, err
	}
	form.Action = b.path
	page := &bulkPage{bulkMove: b, Title: b.title, Form: form, Back: p.lastList(v), BackName: "Pedidos"}
	if v.Query(allParameter) == "" {
		return page, nil
	}
	query := p.readOrderQuery(v)
	query.All = true
	page.All = &allMatching{Seen: p.Clock.Now()}
	if seen, err := time.Parse(time.RFC3339, v.Query("visto")); err == nil && seen.Before(page.All.Seen) {
		page.All.Seen = seen
	}
	form.Action = withParameter(query.at(b.path), "visto", page.All.Seen.UTC().Format(time.RFC3339Nano))
	return page, nil
}

func (p *Pages) previewBulk(v *Request, b bulkMove) error {
	page, err := p.newBulkPage(v, b)
	if err != nil {
		return err
	}
	if page.All != nil {
		return p.showAllMatching(v, http.StatusOK, page)
	}
	ids := selectedIDs(v.QueryArray("id"))
	switch {
	case len(ids) == 0:
		return p.refused(v, page.Back, orders.ErrNothingSelected)
	case len(ids) > orders.MaxBulk:
		return p.refused(v, page.Back, orders.ErrTooManySelected)
	}
	return p.showBulk(v, http.StatusOK, page, ids)
}

// moveBulk moves the listed orders, or the next of all that match, and shows each result. Those
// that can be retried are listed again.
func (p *Pages) moveBulk(v *Request, b bulkMove) error {
	page, err := p.newBulkPage(v, b)
	if err != nil {
		return err
	}
	in, err := p.readForm(v, page.Form)
	if err != nil {
		return err
	}
	posted := v.Request.PostForm
	page.typed = posted
	ids := selectedIDs(posted["id"])
	if page.All != nil {
		page.All.After = optionalID(posted.Get("despues"))
		page.All.Done, _ = strconv.Atoi(posted.Get("hechos"))
		if ids, err = p.nextMatching(v, page); err != nil {
			return err
		}
	}
	defer p.extendTimeout(v)()
	results, err := b.run(p, v, in, ids)
	if err != nil {
		if !page.Form.AddError(err) {
			return err
		}
		if page.All != nil {
			return p.showAllMatching(v, http.StatusUnprocessableEntity, page)
		}
		return p.showBulk(v, http.StatusUnprocessableEntity, page, ids[:min(len(ids), orders.MaxBulk)])
	}
	page.Report = b.results.report(b.title, b.settled, results)
	if page.All == nil {
		return p.showBulk(v, http.StatusOK, page, page.Report.again)
	}
	page.All.Done += len(page.Report.Settled)
	page.All.Goes = len(page.Report.Open) == 0
	page.All.Given = posted
	if len(ids) == orders.MaxBulk {
		page.All.After = &ids[len(ids)-1]
		next, err := p.nextMatching(v, page)
		if err != nil {
			return err
		}
		page.Left = int64(len(next))
	}
	return p.show(v, http.StatusOK, "bulk", b.title, page)
}

// nextMatching are the ids of the next orders that match and can be moved.
func (p *Pages) nextMatching(v *Request, page *bulkPage) ([]uuid.UUID, error) {
	return p.Orders.Movable(v.Ctx(), v.Caller, p.readOrderQuery(v).ordersQuery(), orders.Selection{
		Move: page.move, Until: page.All.Seen, After: page.All.After, Limit: orders.MaxBulk,
	})
}

// showAllMatching shows how many of the orders that match can be moved.
func (p *Pages) showAllMatching(v *Request, status int, page *bulkPage) error {
	matching, err := p.Orders.CountMovable(v.Ctx(), v.Caller, p.readOrderQuery(v).ordersQuery(), page.move, page.All.Seen)
	if err != nil {
		return err
	}
	page.Movable, page.Left, page.ToCollect = matching.Movable, matching.Others, matching.ToCollect
	return p.show(v, status, "bulk", page.Title, page)
}

// showBulk lists orders by whether they can be moved.
func (p *Pages) showBulk(v *Request, status int, page *bulkPage, ids []uuid.UUID) error {
	if len(ids) > 0 {
		details, err := p.Orders.Details(v.Ctx(), v.Caller, ids)
		if err != nil {
			return err
		}
		for _, order := range details {
			if orders.CanMove(v.Caller, order.View, page.move) {
				page.Orders = append(page.Orders, order)
				page.ToCollect += order.AmountToCollect
			} else {
				page.Others = append(page.Others, order)
			}
		}
	}
	page.Movable = int64(len(page.Orders))
	return p.show(v, status, "bulk", page.Title, page)
}

// errTooManyMatching is the error of an action on all orders that match, if they are too many.
var errTooManyMatching = apperror.New(apperror.Invalid, "invalid_fields",
	"Se imprimen 200 etiquetas como máximo a la vez: filtre o marque menos pedidos.")

// allParameter is set for all orders that match the filter of the list.
const allParameter = "todos"

// matchingIDs are the ids of all orders that match, up to one more than most.
func (p *Pages) matchingIDs(v *Request, most int) ([]uuid.UUID, error) {
	ids, err := p.Orders.Movable(v.Ctx(), v.Caller, p.readOrderQuery(v).ordersQuery(),
		orders.Selection{Until: p.Clock.Now(), Limit: most + 1})
	if err == nil && len(ids) > most {
		err = errTooManyMatching
	}
	return ids, err
}

// replaceNumber puts a number into a sentence.
func replaceNumber(sentence string, n int64) string {
	return strings.Replace(sentence, "%", format.Number(n), 1)
}
