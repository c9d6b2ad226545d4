package identity

import "net/http"

// providerSpec describes how one provider's API differs from the others'.
type providerSpec struct {
	// origin and path are the provider's own URL; an empty origin must be given in DNI_URL.
	origin, path string
	// method also says where the DNI goes: in the query of a GET, in the JSON body of a POST.
	method string
	// numberMember is the name of the DNI in the request.
	numberMember string
	// tokenMember is the name of the token in the request's body; if empty, the token is sent as
	// Authorization: Bearer.
	tokenMember string
	// fullNameMember is the full name in the response, where there is one.
	fullNameMember string
	// namePartMembers are the parts of the name, in the order in which they are joined where there
	// is no full name.
	namePartMembers []string
	// echoMember is the DNI in the response.
	echoMember string
	// badRequest is the outcome of a 400 without a message.
	badRequest Outcome
}

// DevProvider is the DNI_PROVIDER name of the development provider, which only knows invented
// people (package dniprovider serves it).
const DevProvider = "dev"

// providerSpecs has every provider by its DNI_PROVIDER name. Any provider's response may have the
// person at the top level or under `data`: providers have changed this over time.
var providerSpecs = map[string]providerSpec{
	"decolecta": decolecta("https://api.decolecta.com"),
	"apisnet": {
		origin: "https://api.apis.net.pe", path: "/v2/reniec/dni", method: http.MethodGet, numberMember: "numero",
		fullNameMember:  "nombreCompleto",
		namePartMembers: []string{"apellidoPaterno", "apellidoMaterno", "nombres"},
		echoMember:      "numeroDocumento",
		badRequest:      Unavailable,
	},
	"apiperu": apiperu("https://apiperu.dev"),
	"jsonpe":  apiperu("https://api.json.pe"),
	"migo": {
		origin: "https://api.migo.pe", path: "/api/v1/dni", method: http.MethodPost, numberMember: "dni", tokenMember: "token",
		fullNameMember: "nombre",
		echoMember:     "dni",
		badRequest:     Unavailable,
	},
	DevProvider: decolecta(""),
}

func decolecta(origin string) providerSpec {
	return providerSpec{
		origin: origin, path: "/v1/reniec/dni", method: http.MethodGet, numberMember: "numero",
		fullNameMember:  "full_name",
		namePartMembers: []string{"first_last_name", "second_last_name", "first_name"},
		echoMember:      "document_number",
		badRequest:      NotFound,
	}
}

func apiperu(origin string) providerSpec {
	return providerSpec{
		origin: origin, path: "/api/dni", method: http.MethodPost, numberMember: "dni",
		fullNameMember:  "nombre_completo",
		namePartMembers: []string{"apellido_paterno", "apellido_materno", "nombres"},
		echoMember:      "numero",
		badRequest:      Unavailable,
	}
}

// Members that mean the same at every provider.
const (
	successMember = "success"
	personMember  = "data"
)

// messageMembers are the members in which providers explain a failure.
var messageMembers = []string{"message", "mensaje", "error", "errors"}

// messagePatterns map a provider's message to an outcome where the status or success:false is
// ambiguous; the first match applies. Messages are compared as textnorm.String returns them, with a
// space at each end. Patterns about us or the provider come before those about the DNI, so that a
// doubt never becomes NotFound or Invalid.
var messagePatterns = []struct {
	outcome Outcome
	words   []string
}{
	{QuotaOrCredentials, []string{
		"token", "api key", "apikey", "credit", "cuota", "quota", "limit", "saldo", " plan ", "suscripcion", "subscription",
		"autoriza", "autentica", "unauthorized", "unauthenticated", "agotad", "excedi", "exceed", "too many", "demasiad",
	}},
	{Unavailable, []string{
		"mantenimiento", "maintenance", "no disponible", "no esta disponible", "unavailable", "mas tarde", "later",
		"try again", "timeout", "timed out", "interno", "internal", "ocurrio un error", "no se pudo", "conexion",
		"connection", "servidor", "server", " ruta ", " route ", "endpoint",
	}},
	{NotFound, []string{
		"no encontr", "no se encontr", "not found", "no data found", "no existe", "sin resultados", "no results",
	}},
	{Invalid, []string{"invalid", "no valido", "no es valido", "not valid", "digitos", "digits"}},
}
