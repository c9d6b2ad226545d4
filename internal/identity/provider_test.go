package identity

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exchanges are the five providers as they behave, each with its request and its answers. DNI
// stands for the one asked.
var exchanges = map[string]struct {
	request  string // method, path and query
	body     string
	bearer   bool
	found    map[string]string // answer by name
	notFound map[string]reply
}{
	"decolecta": {
		request: "GET /v1/reniec/dni?numero=DNI", bearer: true,
		found: map[string]string{
			"DIAZ QUISPE ROSA MARIA": `{"first_name":"ROSA MARIA","first_last_name":"DIAZ","second_last_name":"QUISPE","full_name":"DIAZ QUISPE ROSA MARIA","document_number":"DNI"}`,
			"ÑAUPARI SOLÍS JOSÉ":     `{"first_name":"JOSÉ","first_last_name":"ÑAUPARI","second_last_name":"SOLÍS"}`,
			"SOLO APELLIDO":          `{"first_name":"APELLIDO","first_last_name":"SOLO","second_last_name":null,"full_name":" "}`,
			"ENVUELTO EN DATOS":      `{"data":{"full_name":"ENVUELTO EN DATOS","document_number":"DNI"}}`,
		},
		notFound: map[string]reply{
			"400":                 {400, `{"message":"not found"}`},
			"400 without words":   {400, ``},
			"400 not about a DNI": {400, `{"error":"Bad Request"}`},
			"404":                 {404, `{"message":"not found"}`},
			"404 without JSON":    {404, `404 page not found`},
			"empty names":         {200, `{"first_name":"","first_last_name":"","second_last_name":"","full_name":"","document_number":"DNI"}`},
		},
	},
	"apisnet": {
		request: "GET /v2/reniec/dni?numero=DNI", bearer: true,
		found: map[string]string{
			"DIAZ QUISPE ROSA MARIA": `{"nombres":"ROSA MARIA","apellidoPaterno":"DIAZ","apellidoMaterno":"QUISPE","tipoDocumento":"1","numeroDocumento":"DNI","digitoVerificador":""}`,
			"DIAZ ROSA":              `{"nombres":"ROSA","apellidoPaterno":"DIAZ","apellidoMaterno":"","numeroDocumento":DNI}`,
		},
		notFound: map[string]reply{
			"404":                   {404, `{"message":"not found"}`},
			"400 that says so":      {400, `{"message":"No se encontró información"}`},
			"200 that says so":      {200, `{"message":"not found"}`},
			"200 with empty names":  {200, `{"nombres":"","apellidoPaterno":"","apellidoMaterno":"","numeroDocumento":"DNI"}`},
			"200 with absent names": {200, `{"nombres":null,"apellidoPaterno":null,"apellidoMaterno":null}`},
		},
	},
	"apiperu": {
		request: "POST /api/dni", body: `{"dni":"DNI"}`, bearer: true,
		found: map[string]string{
			"DIAZ QUISPE, ROSA MARIA": `{"success":true,"data":{"numero":"DNI","nombre_completo":"DIAZ QUISPE, ROSA MARIA","nombres":"ROSA MARIA","apellido_paterno":"DIAZ","apellido_materno":"QUISPE","codigo_verificacion":"8"},"time":0.02}`,
			"DIAZ QUISPE ROSA":        `{"success":"true","data":{"numero":"4**1**65","nombres":"ROSA","apellido_paterno":"DIAZ","apellido_materno":"QUISPE"}}`,
		},
		notFound: map[string]reply{
			"success false":      {200, `{"success":false,"message":"No se encontraron registros"}`},
			"without a message":  {200, `{"success":false}`},
			"success without it": {200, `{"success":true,"data":[]}`},
			"404":                {404, `{"success":false,"message":"No se encontraron registros"}`},
		},
	},
	"jsonpe": {
		request: "POST /api/dni", body: `{"dni":"DNI"}`, bearer: true,
		found: map[string]string{
			"DIAZ QUISPE ROSA MARIA": `{"success":true,"message":"Exito","data":{"nombres":"ROSA MARIA","apellido_paterno":"DIAZ","apellido_materno":"QUISPE"}}`,
			"PEREZ ROJAS ANA":        `{"success":true,"message":"exito","data":{"numero":"DNI","nombre_completo":"PEREZ ROJAS ANA","nombres":"ANA","apellido_paterno":"PEREZ","apellido_materno":"ROJAS"}}`,
		},
		notFound: map[string]reply{
			"success false": {200, `{"success":false,"message":"DNI no encontrado"}`},
			"404":           {404, `{"success":false,"message":"No se encontraron resultados"}`},
			"null data":     {200, `{"success":true,"message":"exito","data":null}`},
		},
	},
	"migo": {
		request: "POST /api/v1/dni", body: `{"dni":"DNI","token":"` + someToken + `"}`,
		found: map[string]string{
			"DIAZ QUISPE ROSA MARIA": `{"success":true,"dni":"DNI","nombre":"DIAZ QUISPE ROSA MARIA"}`,
			"DIAZ ROSA":              "\ufeff" + `{"success":1,"nombre":"  DIAZ\n  ROSA "}`,
		},
		notFound: map[string]reply{
			"success false":    {200, `{"success":false}`},
			"404":              {404, `{"success":false,"message":"No existe"}`},
			"with an empty it": {200, `{"success":true,"dni":"DNI","nombre":""}`},
		},
	},
}

type reply struct {
	status int
	body   string
}

func (r reply) handler() http.HandlerFunc {
	return respondsWith(r.status, strings.ReplaceAll(r.body, "DNI", someDNI))
}

func init() { exchanges[DevProvider] = exchanges["decolecta"] }

func TestEveryProviderHasItsExchanges(t *testing.T) {
	t.Parallel()
	for provider := range providerSpecs {
		require.Contains(t, exchanges, provider)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for provider, exchange := range exchanges {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			requests := make(chan *http.Request, 1)
			bodies := make(chan string, 1)
			fake := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				requests <- r
				bodies <- string(body)
				knowsNobody(w, r)
			})
			verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI)

			request := <-requests
			require.Equal(t, strings.ReplaceAll(exchange.request, "DNI", someDNI), request.Method+" "+request.URL.String())
			require.Equal(t, strings.ReplaceAll(exchange.body, "DNI", someDNI), <-bodies)
			require.Equal(t, "application/json", request.Header.Get("Accept"))
			require.Equal(t, userAgent, request.UserAgent())
			authorization, contentType := "", ""
			if exchange.bearer {
				authorization = "Bearer " + someToken
			}
			if exchange.body != "" {
				contentType = "application/json"
			}
			require.Equal(t, authorization, request.Header.Get("Authorization"))
			require.Equal(t, contentType, request.Header.Get("Content-Type"))
		})
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	for provider, exchange := range exchanges {
		for name, body := range exchange.found {
			t.Run(provider+"/"+name, func(t *testing.T) {
				t.Parallel()
				fake := serve(t, reply{http.StatusOK, body}.handler())
				answer := verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI)
				require.Equal(t, Answer{Outcome: Found, Name: name, Provider: provider}, answer)
			})
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	for provider, exchange := range exchanges {
		for how, reply := range exchange.notFound {
			t.Run(provider+"/"+how, func(t *testing.T) {
				t.Parallel()
				fake := serve(t, reply.handler())
				answer := verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI)
				require.Equal(t, Answer{Outcome: NotFound, Provider: provider}, answer)
			})
		}
	}
}

// The outcomes that every provider comes to in the same ways.
func TestOtherOutcomes(t *testing.T) {
	t.Parallel()
	rosa := `{"success":true,"nombre":"ROSA DIAZ","full_name":"ROSA DIAZ","nombres":"ROSA","data":{"nombres":"ROSA","nombre":"ROSA","full_name":"ROSA"}}`
	cases := map[string]struct {
		reply
		want Outcome
	}{
		"422":                          {reply{422, ``}, Invalid},
		"422 with the field's error":   {reply{422, `{"message":"The given data was invalid.","errors":{"dni":["El campo dni debe tener 8 dígitos."]}}`}, Invalid},
		"400 that says so":             {reply{400, `{"message":"dni no válido"}`}, Invalid},
		"success false that says so":   {reply{200, `{"success":false,"message":"El DNI debe tener 8 dígitos"}`}, Invalid},
		"401":                          {reply{401, `{"message":"Unauthenticated."}`}, QuotaOrCredentials},
		"402":                          {reply{402, ``}, QuotaOrCredentials},
		"403":                          {reply{403, `{"success":false}`}, QuotaOrCredentials},
		"429":                          {reply{429, `{"message":"Too Many Attempts."}`}, QuotaOrCredentials},
		"401 with a name":              {reply{401, rosa}, QuotaOrCredentials},
		"422 about the token":          {reply{422, `{"message":"The given data was invalid.","errors":{"token":["es obligatorio"]}}`}, QuotaOrCredentials},
		"400 about the token":          {reply{400, `{"error":"Token inválido"}`}, QuotaOrCredentials},
		"success false for the token":  {reply{200, `{"success":false,"message":"Token no válido"}`}, QuotaOrCredentials},
		"success false for the quota":  {reply{200, `{"success":false,"message":"Ha superado el límite de consultas de su plan"}`}, QuotaOrCredentials},
		"success false for the credit": {reply{200, `{"success":false,"mensaje":"Cr\u00e9ditos insuficientes"}`}, QuotaOrCredentials},
		"no success, and no credit":    {reply{200, `{"error":{"code":7,"detail":["Sin saldo"]}}`}, QuotaOrCredentials},
		"empty data for the credit":    {reply{200, `{"success":true,"data":[],"message":"Sin saldo"}`}, QuotaOrCredentials},
		"500":                          {reply{500, ``}, Unavailable},
		"500 with a name":              {reply{500, rosa}, Unavailable},
		"500 that says not found":      {reply{500, `{"message":"not found"}`}, Unavailable},
		"502":                          {reply{502, `<html>`}, Unavailable},
		"503":                          {reply{503, `{"success":false}`}, Unavailable},
		"504":                          {reply{504, ``}, Unavailable},
		"405":                          {reply{405, `{"message":"The GET method is not supported"}`}, Unavailable},
		"410":                          {reply{410, ``}, Unavailable},
		"418":                          {reply{418, ``}, Unavailable},
		"300 without a Location":       {reply{300, rosa}, Unavailable},
		"204":                          {reply{204, ``}, Unavailable},
		"404 with a page":              {reply{404, "\n<!DOCTYPE html><title>Not Found</title>"}, Unavailable},
		"400 with a page":              {reply{400, "<html>"}, Unavailable},
		"404 of the route":             {reply{404, `{"message":"The route api/dnis could not be found."}`}, Unavailable},
		"success false in maintenance": {reply{200, `{"success":false,"message":"Servicio en mantenimiento"}`}, Unavailable},
		"success false, try later":     {reply{200, `{"success":false,"message":"Ocurrió un error, intente más tarde"}`}, Unavailable},
		"nothing":                      {reply{200, ``}, Unavailable},
		"an empty object":              {reply{200, `{}`}, Unavailable},
		"success alone":                {reply{200, `{"success":true}`}, Unavailable},
		"data that is text":            {reply{200, `{"success":true,"data":"ROSA DIAZ"}`}, Unavailable},
		"a list":                       {reply{200, `[{"nombre":"ROSA"}]`}, Unavailable},
		"null":                         {reply{200, `null`}, Unavailable},
		"text":                         {reply{200, `OK`}, Unavailable},
		"a page":                       {reply{200, `<html>Just a moment...</html>`}, Unavailable},
		"half an object":               {reply{200, rosa[:len(rosa)-3]}, Unavailable},
		"two objects":                  {reply{200, rosa + rosa}, Unavailable},
		"members of other types":       {reply{200, `{"success":true,"data":{"id":[1]}}`}, Unavailable},
	}
	for provider := range exchanges {
		for how, c := range cases {
			t.Run(provider+"/"+how, func(t *testing.T) {
				t.Parallel()
				fake := serve(t, c.handler())
				answer := verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI)
				require.Equal(t, Answer{Outcome: c.want, Provider: provider}, answer)
				require.EqualValues(t, 1, fake.asked.Load())
			})
		}
	}
}

func TestBadRequestWithoutMessage(t *testing.T) {
	t.Parallel()
	fake := serve(t, respondsWith(http.StatusBadRequest, ""))
	for provider := range providerSpecs {
		want := Unavailable
		if provider == "decolecta" || provider == DevProvider {
			want = NotFound
		}
		require.Equal(t, want, verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI).Outcome, provider)
	}
}

func TestResponseAboutAnotherDocumentIsIgnored(t *testing.T) {
	t.Parallel()
	for provider, body := range map[string]string{
		"decolecta": `{"full_name":"ROSA DIAZ","document_number":"40217866"}`,
		"apisnet":   `{"nombres":"ROSA","numeroDocumento":40217866}`,
		"apiperu":   `{"success":true,"data":{"nombre_completo":"ROSA DIAZ","numero":"40217866"}}`,
		"migo":      `{"success":true,"nombre":"ROSA DIAZ","dni":"40217866"}`,
	} {
		fake := serve(t, respondsWith(http.StatusOK, body))
		require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, named(provider, fake)), someDNI).Outcome, provider)
	}
}

func TestLeadingZerosAreKeptAndTheirLossForgiven(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	fake := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("numero")
		respondsWith(http.StatusOK, `{"full_name":"ROSA DIAZ","document_number":1234}`)(w, r)
	})
	require.Equal(t, Found, verify(t, verifierOf(t, Options{}, named("decolecta", fake)), "00001234").Outcome)
	require.Equal(t, "00001234", <-asked)
}

func TestNamesFitAnyColumn(t *testing.T) {
	t.Parallel()
	fake := serve(t, respondsWith(http.StatusOK, `{"full_name":"ROSA\u0000\u0007\tDIAZ \ud800"}`))
	require.Equal(t, "ROSA DIAZ \ufffd", verify(t, verifierOf(t, Options{}, named("decolecta", fake)), someDNI).Name)

	endless := serve(t, respondsWith(http.StatusOK, fmt.Sprintf(`{"full_name":%q}`, strings.Repeat("A", maxNameLength+1))))
	require.Equal(t, Unavailable, verify(t, verifierOf(t, Options{}, named("decolecta", endless)), someDNI).Outcome)
}
