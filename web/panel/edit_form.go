package panel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/operators"
	"despacho/web/panel/forms"
)

// seenField is the field in which a form sends its Seen.
const seenField = "seen"

// changedMeanwhile is shown above a form that was filled in for other values than there are now.
const changedMeanwhile = "Alguien cambió estos datos desde que usted los abrió. Abajo están como son ahora: vuelva a escribir su cambio."

// editForm is the form of something that exists; the fields have its values. It sends all of them,
// so one that was opened before somebody else's change would undo that change.
func editForm(action string, fields []forms.Field) *forms.Form {
	return &forms.Form{Action: action, Submit: "Guardar cambios", Fields: fields, Seen: valuesSeen(fields)}
}

// valuesSeen identifies the values of fields.
func valuesSeen(fields []forms.Field) string {
	sum := sha256.New()
	for _, field := range fields {
		fmt.Fprintf(sum, "%q %q %q\n", field.Name, field.Value, field.Values)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// readEdit is readForm for an editForm. It returns ErrRowChanged if the person saw other values
// than the form has now. A page from before the forms sent their Seen is still accepted.
func (p *Pages) readEdit(v *Request, form *forms.Form) (*jsonbody.Object, error) {
	values, err := posted(v.Context)
	if err != nil {
		return nil, err
	}
	if seen := values.Get(seenField); seen != "" && seen != form.Seen {
		return nil, operators.ErrRowChanged
	}
	return p.readValues(v, form, values)
}

// addEditError is AddError for an editForm, which has the current values.
func addEditError(form *forms.Form, err error) bool {
	if errors.Is(err, operators.ErrRowChanged) {
		form.Failure = changedMeanwhile
		return true
	}
	return form.AddError(err)
}

// unlessChanged returns a change of the operators' service that is refused with ErrRowChanged if
// the row is no longer as it was read.
func unlessChanged[T db.Owned](p *Pages, change func(*operators.Service, context.Context, *models.Operator, uuid.UUID, *jsonbody.Object) (*T, error)) func(context.Context, *models.Operator, uuid.UUID, *T, *jsonbody.Object) error {
	return func(ctx context.Context, operator *models.Operator, id uuid.UUID, read *T, in *jsonbody.Object) error {
		_, err := change(operators.IfUnchanged(p.Operators, read), ctx, operator, id, in)
		return err
	}
}
