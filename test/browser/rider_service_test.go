package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/guidecode"
)

// street is the service as a rider's phone sees it: the page itself, and /rider/api with orders
// that are kept in memory.
type street struct {
	t    *testing.T
	page http.Handler

	mu     sync.Mutex
	links  map[string]string // rider by token
	phones map[string]*riderPhone
	orders []*riderOrder
	acts   []*riderAct
	rules  map[string]any
	// answers are given before anything else, one for each request that sends something.
	answers []func(w http.ResponseWriter)
	loaded  time.Time
	handIns []map[string]any
}

// riderPhone is an activated phone by its cookie.
type riderPhone struct {
	rider, pin      string
	locked, revoked bool
	wrongPINs       int
}

// riderOrder is a package of a rider.
type riderOrder struct {
	ID, Guide, Name, Phone, Address, District, Reference, Notes, Rider, PIN string

	Lat, Lng                     *float64
	Amount                       float64
	Status, Reason               string
	Cancelled, Loaded, Returning bool
	Collected                    float64
	At                           string
}

// riderAct is an act as it arrived, with how often.
type riderAct struct {
	ID, Type, Rider, OccurredAt, SentAt, Reason, Note, ReceivedBy, PIN string

	Orders      []string
	Lat, Lng    *float64
	Collections map[string][]map[string]any
	Photo       []byte
	Sent        int
	answer      map[string]any
}

func newStreet(t *testing.T) *street {
	t.Helper()
	server, err := api.New(api.Options{
		Config: &config.Config{BaseURL: "https://despacho.example"}, Clock: clock.System(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	label := func(code, label string) map[string]any {
		return map[string]any{"code": code, "label": label, "needs_note": false, "needs_photo": false, "needs_reference": false}
	}
	return &street{t: t, page: server.Handler(), links: map[string]string{}, phones: map[string]*riderPhone{}, rules: map[string]any{
		"reasons": []map[string]any{label("absent", "Ausente"), label("no_answer", "No contesta"),
			label("wrong_address", "Dirección equivocada"), label("refused", "Rechazado"), label("no_money", "Sin dinero"), label("other", "Otro")},
		"methods":     []map[string]any{label("cash", "Efectivo"), label("yape", "Yape"), label("card", "Tarjeta")},
		"needs_photo": false, "needs_point": false, "needs_received_by": false, "pin_over": nil,
		"whatsapp_template": "Hola {nombre}, llego con su pedido {guia}. Monto: {monto}. {operador}", "currency": "PEN",
	}}
}

// link is the fragment of a new link for a rider.
func (s *street) link(rider string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := uuid.NewString()
	s.links[token] = rider
	return token
}

// add adds packages, of the rider R1 unless they say another one.
func (s *street) add(orders ...*riderOrder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, order := range orders {
		order.ID, order.Guide, order.Status = uuid.NewString(), guidecode.New(), "assigned"
		if order.Rider == "" {
			order.Rider = "R1"
		}
	}
	s.orders = append(s.orders, orders...)
}

// change changes what the service has while nothing is answered.
func (s *street) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// rule sets a rule of all reasons or methods by its code, or one of the delivery.
func (s *street) rule(name, code string, value any) {
	s.change(func() {
		if code == "" {
			s.rules[name] = value
			return
		}
		for _, list := range []string{"reasons", "methods"} {
			for _, each := range s.rules[list].([]map[string]any) {
				if each["code"] == code {
					each[name] = value
				}
			}
		}
	})
}

// made are the acts that the service has, in the order in which it got them.
func (s *street) made() []riderAct {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := make([]riderAct, 0, len(s.acts))
	for _, act := range s.acts {
		made = append(made, *act)
	}
	return made
}

// ServeHTTP answers the page, and /rider/api.
func (s *street) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, isAPI := strings.CutPrefix(r.URL.Path, "/rider/api")
	if !isAPI {
		s.page.ServeHTTP(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	phone := s.phoneOf(r)
	switch r.Method + " " + path {
	case "POST /activate":
		s.activate(w, r)
		return
	case "POST /session":
		s.unlock(w, r, phone)
		return
	}
	switch {
	case phone == nil:
		fail(w, http.StatusUnauthorized, "no_device", "Este celular no está enlazado.")
	case phone.revoked:
		fail(w, http.StatusUnauthorized, "device_revoked", "Su operador retiró el acceso de este celular.")
	case phone.locked:
		fail(w, http.StatusUnauthorized, "pin_required", "Escriba su PIN.")
	case r.Method == http.MethodGet && path == "/session":
		succeed(w, s.session(phone))
	case r.Method == http.MethodDelete && path == "/session":
		phone.locked = true
		reply(w, http.StatusOK, map[string]any{"message": "Bloqueado."})
	case r.Method == http.MethodGet && path == "/day":
		succeed(w, s.day(phone.rider))
	case r.Method == http.MethodPost && len(s.answers) > 0:
		answer := s.answers[0]
		s.answers = s.answers[1:]
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w)
	case r.Method == http.MethodPost && path == "/load":
		s.load(w, r, phone)
	case r.Method == http.MethodPost && path == "/acts":
		s.act(w, r, phone)
	default:
		fail(w, http.StatusNotFound, "not_found", "No existe.")
	}
}

func (s *street) phoneOf(r *http.Request) *riderPhone {
	cookie, err := r.Cookie("despacho_rider")
	if err != nil {
		return nil
	}
	return s.phones[cookie.Value]
}

func (s *street) session(phone *riderPhone) map[string]any {
	names := map[string]string{"R1": "Luis Mamani", "R2": "Rosa Condori"}
	return map[string]any{
		"rider": map[string]any{"id": phone.rider, "name": names[phone.rider]}, "unlocked_until": time.Now().Add(12 * time.Hour),
		"operator": map[string]any{"name": "Rayo Envíos", "currency": "PEN", "timezone": "America/Lima"},
	}
}

func (s *street) activate(w http.ResponseWriter, r *http.Request) {
	var in struct{ Token, PIN string }
	readBody(s.t, r.Body, &in)
	rider, known := s.links[in.Token]
	if !known {
		fail(w, http.StatusUnauthorized, "link_invalid", "El enlace ya se usó o venció. Pida otro a su operador.")
		return
	}
	delete(s.links, in.Token)
	token := uuid.NewString()
	s.phones[token] = &riderPhone{rider: rider, pin: in.PIN}
	http.SetCookie(w, &http.Cookie{
		Name: "despacho_rider", Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 86400,
	})
	succeed(w, s.session(s.phones[token]))
}

func (s *street) unlock(w http.ResponseWriter, r *http.Request, phone *riderPhone) {
	var in struct{ PIN string }
	readBody(s.t, r.Body, &in)
	switch {
	case phone == nil:
		fail(w, http.StatusUnauthorized, "no_device", "Este celular no está enlazado.")
	case phone.revoked:
		fail(w, http.StatusUnauthorized, "device_revoked", "Su operador retiró el acceso de este celular.")
	case in.PIN != phone.pin:
		phone.wrongPINs++
		phone.revoked = phone.wrongPINs >= 5
		fail(w, http.StatusUnauthorized, "pin_wrong", fmt.Sprintf("El PIN no es correcto. Le quedan %d intentos.", 5-phone.wrongPINs))
	default:
		phone.locked, phone.wrongPINs = false, 0
		succeed(w, s.session(phone))
	}
}

func (s *street) load(w http.ResponseWriter, r *http.Request, phone *riderPhone) {
	var in struct {
		ID    string
		Codes []string
	}
	readBody(s.t, r.Body, &in)
	var missing, extra []map[string]any
	confirmed := 0
	for _, code := range in.Codes {
		at := slices.IndexFunc(s.orders, func(o *riderOrder) bool {
			return strings.HasSuffix(code, o.Guide) && o.Rider == phone.rider
		})
		if at < 0 {
			extra = append(extra, map[string]any{"code": code, "guide_code": nil, "message": "Esa guía no es de ningún pedido."})
		} else {
			s.orders[at].Loaded = true
		}
	}
	for _, order := range s.orders {
		if order.Rider != phone.rider {
			continue
		} else if order.Loaded {
			confirmed++
		} else {
			missing = append(missing, map[string]any{
				"order_id": order.ID, "guide_code": order.Guide, "recipient_name": order.Name, "district": order.District,
			})
		}
	}
	s.loaded = time.Now()
	succeed(w, map[string]any{"confirmed": confirmed, "missing": missing, "extra": extra, "day": s.day(phone.rider)})
}

// act takes an act once, whatever order it is repeated in.
func (s *street) act(w http.ResponseWriter, r *http.Request, phone *riderPhone) {
	act, err := readAct(r)
	require.NoError(s.t, err)
	if at := slices.IndexFunc(s.acts, func(known *riderAct) bool { return known.ID == act.ID }); at >= 0 {
		s.acts[at].Sent++
		succeed(w, s.acts[at].answer)
		return
	}
	if act.Type == "attempt_failed" && act.Reason == "other" && act.Note == "" {
		fail(w, http.StatusBadRequest, "invalid_fields", "Falta la nota de «Otro».")
		return
	}
	if act.Type == "delivered" && !s.pinFits(act) {
		reply(w, http.StatusBadRequest, map[string]any{"error": "Revise los datos.", "code": "invalid_fields",
			"fields": []map[string]any{{"field": "pin", "message": "no es el PIN del cliente"}}})
		return
	}
	var results []map[string]any
	for _, id := range act.Orders {
		order := s.order(id)
		switch {
		case order.Cancelled || order.Rider != phone.rider:
			results = append(results, map[string]any{"order_id": id, "outcome": "refused", "code": "order_cancelled",
				"message": "La tienda canceló este pedido.", "action": "Devuelva el paquete en la sucursal."})
			continue
		case act.Type == "delivered":
			order.Status, order.Collected = "delivered", 0
			for _, part := range act.Collections[id] {
				order.Collected += part["amount"].(float64)
			}
		default:
			order.Reason = act.Reason
		}
		order.At = act.OccurredAt
		results = append(results, map[string]any{"order_id": id, "outcome": "done"})
	}
	act.Rider, act.Sent = phone.rider, 1
	s.acts = append(s.acts, act)
	act.answer = map[string]any{"id": act.ID, "results": results, "day": s.day(phone.rider)}
	succeed(w, act.answer)
}

func (s *street) order(id string) *riderOrder {
	return s.orders[slices.IndexFunc(s.orders, func(o *riderOrder) bool { return o.ID == id })]
}

// pinFits is true if the act has the PIN of one of its packages, or none of them has one.
func (s *street) pinFits(act *riderAct) bool {
	var pins []string
	for _, id := range act.Orders {
		if pin := s.order(id).PIN; pin != "" {
			pins = append(pins, pin)
		}
	}
	return len(pins) == 0 || slices.Contains(pins, act.PIN)
}

func readAct(r *http.Request) (*riderAct, error) {
	body, photo := io.Reader(r.Body), []byte(nil)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		if err := r.ParseMultipartForm(8 << 20); err != nil {
			return nil, err
		}
		body = strings.NewReader(r.FormValue("act"))
		file, _, err := r.FormFile("photo")
		if err != nil {
			return nil, err
		}
		if photo, err = io.ReadAll(file); err != nil {
			return nil, err
		}
	}
	var in struct {
		ID, Type, Reason, Note, PIN string
		Orders                      []string                    `json:"order_ids"`
		OccurredAt                  string                      `json:"occurred_at"`
		SentAt                      string                      `json:"sent_at"`
		ReceivedBy                  string                      `json:"received_by"`
		Lat, Lng                    *float64                    `json:",omitempty"`
		Collections                 map[string][]map[string]any `json:"collections"`
	}
	err := json.NewDecoder(body).Decode(&in)
	return &riderAct{ID: in.ID, Type: in.Type, OccurredAt: in.OccurredAt, SentAt: in.SentAt, Reason: in.Reason, Note: in.Note,
		ReceivedBy: in.ReceivedBy, PIN: in.PIN, Orders: in.Orders, Lat: in.Lat, Lng: in.Lng, Collections: in.Collections,
		Photo: photo}, err
}

func readBody(t *testing.T, body io.Reader, into any) {
	if err := json.NewDecoder(body).Decode(into); err != nil {
		t.Errorf("the phone sent no JSON: %v", err)
	}
}

func succeed(w http.ResponseWriter, data any) { reply(w, http.StatusOK, map[string]any{"data": data}) }

func fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, map[string]any{"error": message, "code": code})
}

func reply(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
