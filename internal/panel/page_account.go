package panel

import (
	"net/http"
	"strings"

	"despacho/internal/apperror"
)

// accountParameter names the user whose page a form is on, in the address that the form leads to.
// The tabs of a browser share the cookie of the session: a form that was opened before somebody
// else signed in would act for that person.
const accountParameter = "cuenta"

// Own is an address that the page sends a form to, or fetches its changing parts from, with the
// user whose page it is.
func (f *frame) Own(address string) string {
	if f.User == nil {
		return address
	}
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + accountParameter + "=" + f.User.ID.String()
}

// RequireOwnPage refuses what a page of another user sends.
func RequireOwnPage(v *Request) error {
	if v.Request.Method != http.MethodPost && !isFragment(v) {
		return nil
	}
	if account := v.Query(accountParameter); account == "" || account == v.Who.User.ID.String() {
		return nil
	}
	return apperror.New(apperror.Conflict, "invalid_form", "No se hizo nada: la página se abrió con otra cuenta, "+
		"y en este navegador ahora ingresó "+v.Who.User.Name+". Abra la página de nuevo, o ingrese con la otra cuenta.")
}
