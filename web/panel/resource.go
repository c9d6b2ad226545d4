package panel

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/body"
	"despacho/models"
)

// resource is something that an operator's people set up: a list, a form to add to it, and a form to change what is on it. All of them
// look and work the same.
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
	make   func(context.Context, *models.Operator, *body.Object) (*T, error)
	alter  func(context.Context, *models.Operator, uuid.UUID, *body.Object) (*T, error)
	absent error

	id   func(*T) uuid.UUID
	name func(*T) string
	// cells are what the list shows of one, in the order of the columns.
	cells func(v *Visit, row *T) []cell
	// fields is the form; row is nil for a new one.
	fields func(v *Visit, row *T) ([]field, error)
}

// cell is one value in a list.
type cell struct {
	Text string
	// Chip is how the text is marked: good, bad or quiet; empty is plain.
	Chip string
}

func plain(text string) cell { return cell{Text: text} }

// activity is the cell that tells what is in use from what is not.
func activity(active bool) cell {
	if active {
		return cell{"Activo", "good"}
	}
	return cell{"Inactivo", "quiet"}
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
}

func (r *resource[T]) list(v *Visit) error {
	asked, err := r.ask(v, nil)
	if err != nil {
		return err
	}
	return r.showList(v, http.StatusOK, asked)
}

func (r *resource[T]) showList(v *Visit, status int, asked *form) error {
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
func (r *resource[T]) ask(v *Visit, row *T) (*form, error) {
	fields, err := r.fields(v, row)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return &form{Action: r.path, Submit: r.add, Fields: fields}, nil
	}
	return &form{Action: r.path + "/" + r.id(row).String(), Submit: "Guardar cambios", Fields: fields}, nil
}

func (r *resource[T]) create(v *Visit) error {
	asked, err := r.ask(v, nil)
	if err != nil {
		return err
	}
	in, err := asked.read(r.pages, v)
	if err == nil {
		_, err = r.make(v.Ctx(), v.Operator(), in)
	}
	if err == nil {
		return r.pages.done(v, r.path, r.made)
	}
	if !asked.complain(err) {
		return err
	}
	return r.showList(v, http.StatusUnprocessableEntity, asked)
}

func (r *resource[T]) edit(v *Visit) error {
	row, err := r.find(v)
	if err != nil {
		return err
	}
	asked, err := r.ask(v, row)
	if err != nil {
		return err
	}
	return r.showEdit(v, http.StatusOK, row, asked)
}

func (r *resource[T]) change(v *Visit) error {
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
	return r.showEdit(v, http.StatusUnprocessableEntity, row, asked)
}

func (r *resource[T]) showEdit(v *Visit, status int, row *T, asked *form) error {
	return r.pages.show(v, status, "resource_edit", r.name(row), resourceEdit{Back: r.path, BackLabel: r.title, Form: asked})
}

// find reads the one that the path names. Another operator's is not there.
func (r *resource[T]) find(v *Visit) (*T, error) {
	id, ok := body.ParseUUID(v.Param("id"))
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
