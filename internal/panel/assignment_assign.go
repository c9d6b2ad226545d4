package panel

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/orders"
	"despacho/models"
)

// errNothingLeft is the error of an assignment of groups whose orders have all gone meanwhile.
var errNothingLeft = apperror.New(apperror.Invalid, "invalid_fields",
	"Ninguno de los pedidos marcados está ya en esta lista: otra persona los movió.")

// assignment gives ticked orders to a rider in steps of orders.MaxBulk: first those that were
// ticked by themselves, then those of the ticked groups, oldest first.
type assignment struct {
	ticks
	list  assignmentQuery
	rider uuid.UUID
	// after is the last order of a group in the step before, and done how many orders the steps until
	// now have assigned.
	after *uuid.UUID
	done  int
}

func readAssignment(values url.Values, list assignmentQuery, rider uuid.UUID) *assignment {
	a := &assignment{ticks: readTicks(values, list), list: list, rider: rider, after: optionalID(values.Get("despues"))}
	a.done, _ = strconv.Atoi(values.Get("hechos"))
	return a
}

// assign assigns the ticked orders to a rider and shows each result. Orders that can be retried
// stay ticked. What is more than one step goes on from page to page.
func (p *Pages) assign(v *Request) error {
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := &assignmentPage{Query: readAssignmentQuery(v), Form: riderForm(riders)}
	in, err := p.readForm(v, page.Form)
	if err != nil {
		return err
	}
	posted := v.Request.PostForm
	a := readAssignment(posted, page.Query.filters(), in.RequiredUUID("rider_id"))
	first := a.done == 0 && a.after == nil
	var results []orders.BulkResult
	if err = in.Err(); err == nil {
		defer p.extendTimeout(v)()
		results, err = p.assignStep(v, a)
	}
	if err != nil {
		if !page.Form.AddError(err) {
			return err
		}
		if err := p.tick(v, page, readTicks(posted, page.Query)); err != nil {
			return err
		}
		return p.respondAssignment(v, http.StatusUnprocessableEntity, page, riders)
	}
	name := riderName(a.rider, riders)
	report := assignmentResults.report("Asignación a "+name, "Los que lleva "+name, results)
	if report.Warning, err = p.ceilingWarning(v, a.rider); err != nil {
		return err
	}
	left, err := p.assignmentLeft(v, a)
	if err != nil {
		return err
	}
	if left || !first {
		return p.showAssignmentStep(v, a, report, left)
	}
	page.Report, page.Sheet = report, &sheetLink{name, routeSheetOf(a.rider)}
	if err := p.mark(v, page, ticks{IDs: report.again, Versions: a.Versions}); err != nil {
		return err
	}
	page.Form = riderForm(riders) // the next orders are not for the same rider by default
	return p.respondAssignment(v, http.StatusOK, page, riders)
}

// assignStep assigns the orders of the next step.
func (p *Pages) assignStep(v *Request, a *assignment) ([]orders.BulkResult, error) {
	ids, err := p.nextAssigned(v, a)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && a.whole() {
		return nil, errNothingLeft
	}
	results, err := p.Orders.AssignMany(v.Ctx(), v.Caller, a.rider, ids, a.Versions)
	for _, result := range results {
		if result.Outcome == orders.BulkAssigned || result.Outcome == orders.BulkUnchanged {
			a.done++
		}
	}
	return results, err
}

// nextAssigned takes the orders of the next step.
func (p *Pages) nextAssigned(v *Request, a *assignment) ([]uuid.UUID, error) {
	ids := slices.Clone(a.IDs[:min(len(a.IDs), orders.MaxBulk)])
	a.IDs = a.IDs[len(ids):]
	a.Except = append(a.Except, ids...) // a group does not take again what this step has taken
	room := orders.MaxBulk - len(ids)
	if !a.whole() || room == 0 {
		return ids, nil
	}
	selection := a.selection(p.Clock.Now(), room)
	selection.After = a.after
	more, err := p.Orders.Movable(v.Ctx(), v.Caller, a.query(a.list), selection)
	if len(more) > 0 {
		a.after = &more[len(more)-1]
	}
	return append(ids, more...), err
}

// assignmentLeft reports whether there are orders for another step.
func (p *Pages) assignmentLeft(v *Request, a *assignment) (bool, error) {
	if len(a.IDs) > 0 || !a.whole() {
		return len(a.IDs) > 0, nil
	}
	selection := a.selection(p.Clock.Now(), 1)
	selection.After = a.after
	left, err := p.Orders.Movable(v.Ctx(), v.Caller, a.query(a.list), selection)
	return len(left) > 0, err
}

// showAssignmentStep shows a step with what the next one needs.
func (p *Pages) showAssignmentStep(v *Request, a *assignment, report *bulkReport, left bool) error {
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	form := riderForm(riders)
	form.Action = a.list.Path()
	page := &bulkPage{
		bulkMove: bulkMove{path: assignmentPath, title: "Asignar pedidos", move: models.MoveAssign},
		Title:    report.Title, Form: form, Report: report, Back: a.list.Path(), BackName: "Asignación",
		All: &allMatching{Seen: a.Seen, After: a.after, Done: a.done, Goes: len(report.Open) == 0,
			Given: url.Values{"rider_id": {a.rider.String()}}, Rest: a.rest()},
	}
	if left {
		page.Left = 1
	}
	return p.show(v, http.StatusOK, "bulk", report.Title, page)
}

// rest are the ticks that are left for the next steps, as the fields of a form.
func (a *assignment) rest() url.Values {
	rest := url.Values{seenParameter: {a.SeenText()}}
	for _, id := range a.IDs {
		text := id.String()
		if version, known := a.Versions[id]; known {
			text += ":" + strconv.Itoa(version)
		}
		rest.Add("id", text)
	}
	for name, ids := range map[string][]uuid.UUID{groupParameter: a.Groups, exceptParameter: a.Except} {
		for _, id := range ids {
			rest.Add(name, id.String())
		}
	}
	if a.All {
		rest.Set(allParameter, "1")
	}
	return rest
}
