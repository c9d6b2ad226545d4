package panel

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// resource is something that an operator configures: a list, a form to create one, and a form to
// edit one. All of them look and work the same.
type resource[T any] struct {
	pages *Pages
	path  string
	title string
	// intro is a short description.
	intro   string
	columns []string
	// add is the label of the create button; made and changed are the success messages.
	add, made, changed string

	all  func(context.Context, *models.Operator) ([]T, error)
	make func(context.Context, *models.Operator, *jsonbody.Object) (*T, error)
	// alter changes a row unless it is no longer as it was read: that is errRowChanged.
	alter  func(ctx context.Context, operator *models.Operator, id uuid.UUID, read *T, in *jsonbody.Object) error
	absent error

	id   func(*T) uuid.UUID
	name func(*T) string
	// cells are a row's cells, in the order of the columns.
	cells func(v *Request, row *T) []cell
	// fields is the form; row is nil for a new one.
	fields func(v *Request, row *T) ([]forms.Field, error)

	// once, if not nil, is what of a new row is shown once.
	once func(made *T) []shownOnce
	// actions, if not nil, are the other actions on a row.
	actions func(v *Request, row *T) []action
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
}

func plain(text string) cell { return cell{Text: text} }

// activity is the cell of the active state.
func activity(active bool) cell {
	if active {
		return cell{Text: "Activo", Style: "good"}
	}
	return cell{Text: "Inactivo", Style: "quiet"}
}

// marked is the cell that marks one row, such as the default.
func marked(mark string, isMarked bool) cell {
	if isMarked {
		return cell{Text: mark, Style: "good"}
	}
	return plain("—")
}

type resourcePage struct {
	Intro   string
	Columns []string
	Rows    []resourceRow
	Add     string
	Form    *forms.Form
}

type resourceRow struct {
	Path  string
	Name  string
	Cells []cell
}

type resourceEdit struct {
	Back, BackLabel string
	Form            *forms.Form
	Actions         []action
}

func (r *resource[T]) list(v *Request) error {
	form, err := r.ask(v, nil)
	if err != nil {
		return err
	}
	return r.showList(v, http.StatusOK, form)
}

func (r *resource[T]) showList(v *Request, status int, form *forms.Form) error {
	rows, err := r.all(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := resourcePage{Intro: r.intro, Columns: r.columns, Add: r.add, Form: form, Rows: make([]resourceRow, len(rows))}
	for i := range rows {
		page.Rows[i] = resourceRow{Path: r.path + "/" + r.id(&rows[i]).String(), Name: r.name(&rows[i]), Cells: r.cells(v, &rows[i])}
	}
	return r.pages.show(v, status, "resource", r.title, page)
}

// ask is the form of a new row, or of an existing one.
func (r *resource[T]) ask(v *Request, row *T) (*forms.Form, error) {
	fields, err := r.fields(v, row)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return &forms.Form{Action: r.path, Submit: r.add, Fields: fields}, nil
	}
	return editForm(r.path+"/"+r.id(row).String(), fields), nil
}

func (r *resource[T]) create(v *Request) error {
	form, err := r.ask(v, nil)
	if err != nil {
		return err
	}
	return r.pages.handle(v, form, func(in *jsonbody.Object) error {
		made, err := r.make(v.Ctx(), v.Operator(), in)
		if err != nil {
			return err
		}
		if r.once == nil {
			return r.pages.done(v, r.path, r.made)
		}
		return r.pages.done(v, r.path, r.made, r.once(made)...)
	}, func(status int) error { return r.showList(v, status, form) })
}

func (r *resource[T]) edit(v *Request) error {
	row, form, err := r.open(v)
	if err != nil {
		return err
	}
	return r.showEdit(v, http.StatusOK, row, form, r.actionsOn(v, row))
}

// open reads the row of the path, with its form.
func (r *resource[T]) open(v *Request) (*T, *forms.Form, error) {
	row, err := r.find(v)
	if err != nil {
		return nil, nil, err
	}
	form, err := r.ask(v, row)
	return row, form, err
}

func (r *resource[T]) change(v *Request) error {
	row, form, err := r.open(v)
	if err != nil {
		return err
	}
	return r.pages.handle(v, form, func(in *jsonbody.Object) error {
		err := r.alter(v.Ctx(), v.Operator(), r.id(row), row, in)
		if errors.Is(err, errRowChanged) {
			now, current, openErr := r.open(v)
			if openErr != nil {
				return openErr
			}
			row, *form = now, *current
		}
		if err != nil {
			return err
		}
		return r.pages.done(v, r.path, r.changed)
	}, func(status int) error { return r.showEdit(v, status, row, form, r.actionsOn(v, row)) })
}

func (r *resource[T]) showEdit(v *Request, status int, row *T, form *forms.Form, actions []action) error {
	return r.pages.show(v, status, "resource_edit", r.name(row), resourceEdit{Back: r.path, BackLabel: r.title, Form: form, Actions: actions})
}

func (r *resource[T]) actionsOn(v *Request, row *T) []action {
	if r.actions == nil {
		return nil
	}
	return r.actions(v, row)
}

// find reads the row of the path. Another operator's is not found.
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
