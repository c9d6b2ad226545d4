package panel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
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

// errRowChanged is for a form that was filled in for other values than there are now.
var errRowChanged = errors.New("the row was changed meanwhile")

// readEdit is readForm for an editForm. It returns errRowChanged if the person saw other values
// than the form has now. A page from before the forms sent their Seen is still accepted.
func (p *Pages) readEdit(v *Request, form *forms.Form) (*jsonbody.Object, error) {
	values, err := posted(v.Context)
	if err != nil {
		return nil, err
	}
	if seen := values.Get(seenField); seen != "" && seen != form.Seen {
		return nil, errRowChanged
	}
	return p.readValues(v, form, values)
}

// addEditError is AddError for an editForm, which has the current values.
func addEditError(form *forms.Form, err error) bool {
	if errors.Is(err, errRowChanged) {
		form.Failure = changedMeanwhile
		return true
	}
	return form.AddError(err)
}

// unlessChanged returns a change of the operators' service that is refused with errRowChanged if
// the row is no longer as it was read.
func unlessChanged[T operators.Owned](change func(context.Context, *models.Operator, uuid.UUID, *jsonbody.Object, func(*T) error) (*T, error)) func(context.Context, *models.Operator, uuid.UUID, *T, *jsonbody.Object) error {
	return func(ctx context.Context, operator *models.Operator, id uuid.UUID, read *T, in *jsonbody.Object) error {
		_, err := change(ctx, operator, id, in, func(locked *T) error {
			if len(db.ChangedColumns(read, locked)) > 0 {
				return errRowChanged
			}
			return nil
		})
		return err
	}
}

// requireSeen returns errRowChanged if current, the form of the row as it is when it is changed,
// shows other values than form was made with; current then takes the place of form.
func requireSeen(form **forms.Form, current *forms.Form) error {
	if current.Seen == (*form).Seen {
		return nil
	}
	*form = current
	return errRowChanged
}
