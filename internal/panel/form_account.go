package panel

import (
	"net/http"
	"regexp"
	"strings"

	"despacho/internal/apperror"
	"despacho/models"
)

// accountParameter names the user whose page a form is on, in the address that the form leads to.
// The tabs of a browser share the cookie of the session: a form that was opened before somebody
// else signed in would act for that person.
const accountParameter = "cuenta"

// boundAddress is an address that a page sends a form to, or fetches its changing parts from.
var boundAddress = regexp.MustCompile(`(?:<form method="post" action|data-live|data-after)="[^"]*`)

// bindAddresses adds the user to the addresses of a page. Text of people has no quotation marks and
// no tags in a page, so whatever has the form of an address here is one.
func bindAddresses(page []byte, user *models.User) []byte {
	return boundAddress.ReplaceAllFunc(page, func(address []byte) []byte {
		separator := "?"
		if strings.Contains(string(address), "?") {
			separator = "&amp;"
		}
		return append(address[:len(address):len(address)], separator+accountParameter+"="+user.ID.String()...)
	})
}

// RequireOwnPage refuses what a page of another user sends. A page from before the addresses named
// the user is still accepted.
func RequireOwnPage(v *Request) error {
	if v.Request.Method != http.MethodPost && !isFragment(v) {
		return nil
	}
	if account := v.Query(accountParameter); account == "" || account == v.Who.User.ID.String() {
		return nil
	}
	return apperror.New(apperror.Conflict, "invalid_form",
		"No se hizo nada: la página se abrió con otra cuenta, y en este navegador ahora ingresó "+v.Who.User.Name+". Abra la página de nuevo, o ingrese con la otra cuenta.")
}
