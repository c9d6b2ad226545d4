package panel

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/models"
)

// resource is something that an operator's people set up: a list, a form to add to it, and a form
// to change what is on it. All of them look and work the same.
type resource[T any] struct {
	pages *Pages
	path  string
	title string
	// intro says what it is for, in a sentence or two.
	intro   string
	columns []string
	// add is the button that makes a new one; made and changed say that it worked.
	add, made, changed string

	all    func(context.Context, *models.Operator) ([]T, error)
	make   func(context.Context, *models.Operator, *jsonbody.Object) (*T, error)
	alter  func(context.Context, *models.Operator, uuid.UUID, *jsonbody.Object) (*T, error)
	absent error

	id   func(*T) uuid.UUID
	name func(*T) string
	// cells are what the list shows of one, in the order of the columns.
	cells func(v *Request, row *T) []cell
	// fields is the form; row is nil for a new one.
	fields func(v *Request, row *T) ([]field, error)

	// show answers for a new one in the place of the list, where there is something to see this
	// once; it may be nil.
	show func(v *Request, made *T) error
	// actions are what else can be done with one; it may be nil.
	actions func(row *T) []action
}

// action is something that is done to one of the list, apart from changing what it says.
type action struct {
	Title, Text string
	Form        *form
	// Open shows the form at once, because there is something wrong in it.
	Open bool
}

// cell is one value in a list.
type cell struct {
	Text string
	// Note is a second line in smaller print.
	Note string
	// Chip is how the text is marked: good, bad or quiet; empty is plain.
	Chip string
}

func plain(text string) cell { return cell{Text: text} }

// activity is the cell that tells what is in use from what is not.
func activity(active bool) cell {
	if active {
		return cell{Text: "Activo", Chip: "good"}
	}
	return cell{Text: "Inactivo", Chip: "quiet"}
}

// marked is the cell that tells the one that stands out from the others.
func marked(mark string, it bool) cell {
	if it {
		return cell{Text: mark, Chip: "good"}
	}
	return plain("—")
}

type resourcePage struct {
	Intro   string
	Columns []string
	Rows    []resourceRow
	Add     string
	Form    *form
}

type resourceRow struct {
	Path  string
	Name  string
	Cells []cell
}

type resourceEdit struct {
	Back, BackLabel string
	Form            *form
	Actions         []action
}

func (r *resource[T]) list(v *Request) error {
	asked, err := r.ask(v, nil)
	if err != nil {
		return err
	}
	return r.showList(v, http.StatusOK, asked)
}

func (r *resource[T]) showList(v *Request, status int, asked *form) error {
	rows, err := r.all(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := resourcePage{Intro: r.intro, Columns: r.columns, Add: r.add, Form: asked, Rows: make([]resourceRow, len(rows))}
	for i := range rows {
		page.Rows[i] = resourceRow{Path: r.path + "/" + r.id(&rows[i]).String(), Name: r.name(&rows[i]), Cells: r.cells(v, &rows[i])}
	}
	return r.pages.show(v, status, "resource", r.title, page)
}

// ask is the empty form for a new one, or the form of one that is there.
func (r *resource[T]) ask(v *Request, row *T) (*form, error) {
	fields, err := r.fields(v, row)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return &form{Action: r.path, Submit: r.add, Fields: fields}, nil
	}
	return &form{Action: r.path + "/" + r.id(row).String(), Submit: "Guardar cambios", Fields: fields}, nil
}

func (r *resource[T]) create(v *Request) error {
	asked, err := r.ask(v, nil)
	if err != nil {
		return err
	}
	in, err := asked.read(r.pages, v)
	var made *T
	if err == nil {
		made, err = r.make(v.Ctx(), v.Operator(), in)
	}
	if err == nil && r.show != nil {
		return r.show(v, made)
	}
	if err == nil {
		return r.pages.done(v, r.path, r.made)
	}
	if !asked.complain(err) {
		return err
	}
	return r.showList(v, http.StatusUnprocessableEntity, asked)
}

func (r *resource[T]) edit(v *Request) error {
	row, err := r.find(v)
	if err != nil {
		return err
	}
	asked, err := r.ask(v, row)
	if err != nil {
		return err
	}
	return r.showEdit(v, http.StatusOK, row, asked, r.actionsOn(row))
}

func (r *resource[T]) change(v *Request) error {
	row, err := r.find(v)
	if err != nil {
		return err
	}
	asked, err := r.ask(v, row)
	if err != nil {
		return err
	}
	in, err := asked.read(r.pages, v)
	if err == nil {
		_, err = r.alter(v.Ctx(), v.Operator(), r.id(row), in)
	}
	if err == nil {
		return r.pages.done(v, r.path, r.changed)
	}
	if !asked.complain(err) {
		return err
	}
	return r.showEdit(v, http.StatusUnprocessableEntity, row, asked, r.actionsOn(row))
}

func (r *resource[T]) showEdit(v *Request, status int, row *T, asked *form, actions []action) error {
	return r.pages.show(v, status, "resource_edit", r.name(row), resourceEdit{Back: r.path, BackLabel: r.title, Form: asked, Actions: actions})
}

func (r *resource[T]) actionsOn(row *T) []action {
	if r.actions == nil {
		return nil
	}
	return r.actions(row)
}

// find reads the one that the path names. Another operator's is not there.
func (r *resource[T]) find(v *Request) (*T, error) {
	id, ok := jsonbody.ParseUUID(v.Param("id"))
	if !ok {
		return nil, r.absent
	}
	rows, err := r.all(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if r.id(&rows[i]) == id {
			return &rows[i], nil
		}
	}
	return nil, r.absent
}
