package panel

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// resource is something that an operator configures: a list, a form to create one, and a form to
// edit one. All of them look and work the same.
type resource[T operators.Owned] struct {
	pages *Pages
	path  string
	title string
	// intro is a short description.
	intro   string
	columns []string
	// add is the label of the create button; made and changed are the success messages.
	add, made, changed string
	// inactive is what happens to a row that is not active. gender is that of the word for a row.
	inactive string
	gender   gender
	// reads opens the pages, writes is for their forms.
	reads, writes models.Permission

	list   func(context.Context, *models.Operator) ([]T, error)
	create func(context.Context, *models.Operator, *jsonbody.Object) (*T, []shownOnce, error)
	change func(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*T) error) (*T,
		error)
	absent error

	name   func(*T) string
	active func(*T) bool
	// describe reads what the pages need besides the rows.
	describe func(v *Request) (described[T], error)
	// ask, if not nil, leaves a question in the form of a change that needs a second thought.
	ask func(v *Request, row *T, form *forms.Form) error
}

// described are the cells of a row, in the order of the columns, and the fields of its form. Those
// of a new one are the fields of a zero row.
type described[T any] struct {
	cells  func(*T) []cell
	fields func(*T) []forms.Field
	// actions, if not nil, are the other actions on a row.
	actions func(*T) []action
	// links, if not nil, are the other pages of a row.
	links func(*T) []pageLink
}

func (d described[T]) actionsOn(row *T) []action {
	if d.actions == nil {
		return nil
	}
	return d.actions(row)
}

func (d described[T]) linksOf(row *T) []pageLink {
	if d.links == nil {
		return nil
	}
	return d.links(row)
}

// resourceOf is the resource of rows that need no other page than the usual ones.
func resourceOf[T operators.Owned](p *Pages, rows operators.Rows[T], r resource[T]) *resource[T] {
	r.pages, r.list, r.change, r.absent = p, rows.List, rows.Change, rows.NotFound()
	r.create = func(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*T, []shownOnce, error) {
		made, err := rows.Create(ctx, operator, in)
		return made, nil, err
	}
	return &r
}

// action is an action on a row, other than editing it.
type action struct {
	Title, Text string
	Form        *forms.Form
	// Open shows the form at once, because it has an error.
	Open bool
}

// cell is a table cell.
type cell struct {
	Text string
	// Note is a second line in a smaller font.
	Note string
	// Money is an amount, which is never broken over two lines.
	Money bool
	// Style is the style of the text: good, bad or quiet; empty is plain.
	Style string
	// Path is where the text leads to, if it is a link.
	Path string
}

func plain(text string) cell { return cell{Text: text} }

// gender is the ending of the words about a row.
type gender string

const (
	masculine gender = "o"
	feminine  gender = "a"
)

// activity is the cell of the active state.
func activity(active bool, of gender) cell {
	if active {
		return cell{Text: "Activ" + string(of), Style: "good"}
	}
	return cell{Text: "Inactiv" + string(of), Style: "quiet"}
}

// marked is the cell that marks one row, such as the default.
func marked(mark string, isMarked bool) cell {
	if isMarked {
		return cell{Text: mark, Style: "good"}
	}
	return plain("—")
}

type resourcePage struct {
	// Back is the page that it belongs to, if there is one.
	Back, BackLabel string
	Intro           string
	Columns         []string
	Rows            []resourceRow
	Add             string
	Form            *forms.Form
	// Editable means that the user may create and edit, unless the operator is suspended.
	Editable bool
}

type resourceRow struct {
	Path  string
	Name  string
	Cells []cell
}

type resourceEdit struct {
	Back, BackLabel string
	// Form is nil for a user who may not edit.
	Form    *forms.Form
	Actions []action
	// Links are the other pages of the row.
	Links []pageLink
}

type pageLink struct{ Path, Label string }

func (r *resource[T]) routes() []Route {
	return []Route{
		{http.MethodGet, r.path, r.reads, r.showList}, {http.MethodPost, r.path, r.writes, r.createRow},
		{http.MethodGet, r.path + "/:id", r.reads, r.edit}, {http.MethodPost, r.path + "/:id", r.writes, r.changeRow},
	}
}

func (r *resource[T]) showList(v *Request) error {
	as, err := r.describe(v)
	if err != nil {
		return err
	}
	return r.respondList(v, http.StatusOK, as, r.newForm(as))
}

func (r *resource[T]) respondList(v *Request, status int, as described[T], form *forms.Form) error {
	rows, err := r.list(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := resourcePage{Intro: r.intro, Columns: r.columns, Add: r.add, Form: form, Rows: make([]resourceRow, len(rows)),
		Editable: r.writes.Allows(&v.Who.User)}
	for i := range rows {
		page.Rows[i] = resourceRow{Path: r.rowPath(&rows[i]), Name: r.name(&rows[i]), Cells: as.cells(&rows[i])}
	}
	return r.pages.show(v, status, "resource", r.title, page)
}

func idOf[T operators.Owned](row *T) uuid.UUID {
	_, _, id := (*row).AuditSubject()
	return id
}

func (r *resource[T]) rowPath(row *T) string { return r.path + "/" + idOf(row).String() }

func (r *resource[T]) newForm(as described[T]) *forms.Form {
	return &forms.Form{Action: r.path, Submit: r.add, Fields: as.fields(new(T))}
}

func (r *resource[T]) editForm(as described[T], row *T) *forms.Form {
	return editForm(r.rowPath(row), append(as.fields(row), forms.Active("Activ"+string(r.gender), r.active(row), r.inactive)))
}

func (r *resource[T]) createRow(v *Request) error {
	as, err := r.describe(v)
	if err != nil {
		return err
	}
	form := r.newForm(as)
	return r.pages.handle(v, form, func(in *jsonbody.Object) error {
		_, once, err := r.create(v.Ctx(), v.Operator(), in)
		if err != nil {
			return err
		}
		return r.pages.done(v, r.path, r.made, once...)
	}, func(status int) error { return r.respondList(v, status, as, form) })
}

func (r *resource[T]) edit(v *Request) error {
	row, as, err := r.open(v)
	if err != nil {
		return err
	}
	return r.showEdit(v, http.StatusOK, row, r.editForm(as, row), as)
}

// open reads the row of the path.
func (r *resource[T]) open(v *Request) (row *T, as described[T], err error) {
	if row, err = r.find(v); err == nil {
		as, err = r.describe(v)
	}
	return row, as, err
}

func (r *resource[T]) changeRow(v *Request) error {
	row, as, err := r.open(v)
	if err != nil {
		return err
	}
	form := r.editForm(as, row)
	return r.pages.handle(v, form, func(in *jsonbody.Object) error {
		if r.ask != nil {
			if err := requireSeen(form, r.editForm(as, row)); err != nil {
				return err
			}
			if err := r.ask(v, row, form); err != nil {
				return err
			}
			if form.Question != "" {
				return r.showEdit(v, http.StatusUnprocessableEntity, row, form, as)
			}
		}
		_, err := r.change(v.Ctx(), v.Operator(), idOf(row), in, func(locked *T) error {
			current := *locked
			row = &current
			return requireSeen(form, r.editForm(as, row))
		})
		if err != nil {
			return err
		}
		return r.pages.done(v, r.path, r.changed)
	}, func(status int) error { return r.showEdit(v, status, row, form, as) })
}

func (r *resource[T]) showEdit(v *Request, status int, row *T, form *forms.Form, as described[T]) error {
	if !r.writes.Allows(&v.Who.User) {
		form = nil
	}
	return r.pages.show(v, status, "resource_edit", r.name(row),
		resourceEdit{Back: r.path, BackLabel: r.title, Form: form, Actions: as.actionsOn(row), Links: as.linksOf(row)})
}

// find reads the row of the path. Another operator's is not found.
func (r *resource[T]) find(v *Request) (*T, error) {
	rows, err := r.list(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	id := optionalID(v.Param("id"))
	for i := range rows {
		if id != nil && idOf(&rows[i]) == *id {
			return &rows[i], nil
		}
	}
	return nil, r.absent
}

// always describes rows that need nothing else.
func always[T any](
	cells func(*Request, *T) []cell, fields func(*Request, *T) []forms.Field,
) func(*Request) (described[T], error) {
	return func(v *Request) (described[T], error) {
		return described[T]{
			cells: func(row *T) []cell { return cells(v, row) }, fields: func(row *T) []forms.Field { return fields(v, row) },
		}, nil
	}
}
