package panel

import (
	"despacho/internal/apperror"
	"despacho/internal/panel/forms"
)

// editForm is the form of something that exists; the fields have its values.
func editForm(action string, fields []forms.Field) *forms.Form {
	return forms.Edit(action, "Guardar cambios", fields)
}

// errRowChanged is for a form that changes what somebody else has changed meanwhile.
var errRowChanged = apperror.New(apperror.Conflict, "row_changed",
	"Alguien cambió estos datos desde que usted los abrió. Lo que usted escribió sigue aquí, con lo que dice ahora: "+
		"si lo suyo es lo correcto, guárdelo otra vez.")

// requireSeen merges what the person has changed with current, the form of the row as it is when it
// is changed. It returns errRowChanged if somebody else has changed the same field.
func requireSeen(form, current *forms.Form) error {
	if form.Merge(current, nil) {
		return nil
	}
	return errRowChanged
}
