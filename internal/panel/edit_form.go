package panel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"despacho/internal/apperror"
	"despacho/internal/panel/forms"
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

// requireSeen returns errRowChanged if the person saw other values than current has, the form of
// the row as it is when it is changed; current then takes the place of form.
func requireSeen(v *Request, form, current *forms.Form) error {
	if seen := v.PostForm(seenField); seen == "" || seen == current.Seen {
		return nil
	}
	*form = *current
	return errRowChanged
}
