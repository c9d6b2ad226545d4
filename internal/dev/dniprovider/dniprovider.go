// Package dniprovider is an identity provider for development: it has decolecta's API and knows
// only invented people. The provider named dev uses it.
package dniprovider

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"
)

// The DNIs it knows. Any other is answered 404, not found.
const (
	// DNIRosa is ROSA MARIA DIAZ QUISPE's.
	DNIRosa = "99990001"
	// DNIJose is JOSE ÑAUPARI DE LA CRUZ's, with the letters that systems lose.
	DNIJose = "99990002"
	// DNILuz begins with zeros, which a number would lose; it is LUZ MARINA HUAMAN FLORES's.
	DNILuz = "00009903"
	// DNISlow is PEDRO PABLO ROJAS SALAS's, answered after SlowAnswer.
	DNISlow = "99990004"
	// DNIFails is answered 503, as by a provider that is down.
	DNIFails = "99990005"
	// DNIWithoutCredit is answered 401, as by a provider whose token is spent.
	DNIWithoutCredit = "99990006"
)

// SlowAnswer is how long DNISlow takes: noticeable, and within the adapter's timeout.
const SlowAnswer = 3 * time.Second

type person struct {
	FirstName      string `json:"first_name"`
	FirstLastName  string `json:"first_last_name"`
	SecondLastName string `json:"second_last_name"`
	FullName       string `json:"full_name"`
	DocumentNumber string `json:"document_number"`
}

var people = map[string]person{
	DNIRosa: {FirstName: "ROSA MARIA", FirstLastName: "DIAZ", SecondLastName: "QUISPE"},
	DNIJose: {FirstName: "JOSE", FirstLastName: "ÑAUPARI", SecondLastName: "DE LA CRUZ"},
	DNILuz:  {FirstName: "LUZ MARINA", FirstLastName: "HUAMAN", SecondLastName: "FLORES"},
	DNISlow: {FirstName: "PEDRO PABLO", FirstLastName: "ROJAS", SecondLastName: "SALAS"},
}

// Provider serves look-ups, GET ?numero=<DNI>, at whatever path it is mounted; no token is asked
// for.
type Provider struct {
	// SlowAnswer is how long DNISlow takes; zero means the constant of that name.
	SlowAnswer time.Duration
}

// ServeHTTP answers one look-up.
func (p Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		refuse(w, http.StatusMethodNotAllowed, "Use GET.")
		return
	}
	dni := r.URL.Query().Get("numero")
	switch dni {
	case DNISlow:
		select {
		case <-time.After(cmp.Or(p.SlowAnswer, SlowAnswer)):
		case <-r.Context().Done():
			return
		}
	case DNIFails:
		refuse(w, http.StatusServiceUnavailable, "El servicio no está disponible.")
		return
	case DNIWithoutCredit:
		refuse(w, http.StatusUnauthorized, "Se agotó el crédito del token.")
		return
	}
	found, known := people[dni]
	if !known {
		refuse(w, http.StatusNotFound, "No se encontró el DNI.")
		return
	}
	found.DocumentNumber = dni
	found.FullName = found.FirstLastName + " " + found.SecondLastName + " " + found.FirstName
	reply(w, http.StatusOK, found)
}

func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]string{"error": message})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
