package identity

import "net/http"

// providerSpec is all that tells one provider's API from another's.
type providerSpec struct {
	// origin and path are the provider's own address; an empty origin has to be given in DNI_URL.
	origin, path string
	// method says where the DNI goes: in the query of a GET, in the JSON body of a POST.
	method string
	// numberMember names the DNI in the request.
	numberMember string
	// tokenMember names the token in the request's body; empty, the token goes in Authorization as
	// Bearer.
	tokenMember string
	// fullNameMember names the whole name in the answer, where there is one.
	fullNameMember string
	// namePartMembers name its parts, in the order they are joined in where there is no whole name.
	namePartMembers []string
	// echoMember names the DNI in the answer.
	echoMember string
	// badRequest is what a 400 with no words about its reason means.
	badRequest Outcome
}

// DevProvider is the name in DNI_PROVIDER of the provider for development, which knows invented
// people alone (package devprovider serves it).
const DevProvider = "dev"

// shapes has every provider under its name in DNI_PROVIDER. Answers may hold the person at the top
// or under `data` whatever the provider: they have been seen to change their minds.
var shapes = map[string]providerSpec{
	"decolecta": decolecta("https://api.decolecta.com"),
	"apisnet": {
		origin: "https://api.apis.net.pe", path: "/v2/reniec/dni", method: http.MethodGet, numberMember: "numero",
		fullNameMember:  "nombreCompleto",
		namePartMembers: []string{"apellidoPaterno", "apellidoMaterno", "nombres"},
		echoMember:      "numeroDocumento",
		badRequest:      Unavailable,
	},
	"apiperu": {
		origin: "https://apiperu.dev", path: "/api/dni", method: http.MethodPost, numberMember: "dni",
		fullNameMember:  "nombre_completo",
		namePartMembers: []string{"apellido_paterno", "apellido_materno", "nombres"},
		echoMember:      "numero",
		badRequest:      Unavailable,
	},
	"jsonpe": {
		origin: "https://api.json.pe", path: "/api/dni", method: http.MethodPost, numberMember: "dni",
		fullNameMember:  "nombre_completo",
		namePartMembers: []string{"apellido_paterno", "apellido_materno", "nombres"},
		echoMember:      "numero",
		badRequest:      Unavailable,
	},
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

// Members that mean the same at every provider.
const (
	successMember = "success"
	personMember  = "data"
)

// messageMembers are where providers explain themselves.
var messageMembers = []string{"message", "mensaje", "error", "errors"}

// wordings tell by a provider's words what its status or its success:false leaves open, the first
// that applies. The words are as fold.String leaves them, between spaces. A doubt is never resolved
// against the DNI: what speaks of us or of the provider comes first.
var wordings = []struct {
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
