package panel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// seenField is the field in which a form sends its Seen.
const seenField = "seen"

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
var errRowChanged = apperror.New(apperror.Conflict, "row_changed",
	"Alguien cambió estos datos desde que usted los abrió. Abajo están como son ahora: vuelva a escribir su cambio.")

// unlessChanged returns a change of the operators' service that is refused with errRowChanged if
// the row is no longer as it was read.
func unlessChanged[T operators.Owned](
	change func(context.Context, *models.Operator, uuid.UUID, *jsonbody.Object, func(*T) error) (*T, error),
) func(context.Context, *models.Operator, uuid.UUID, *T, *jsonbody.Object) error {
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
func requireSeen(form, current *forms.Form) error {
	if current.Seen == form.Seen {
		return nil
	}
	*form = *current
	return errRowChanged
}
