package panel_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/internal/panel"
	"despacho/models"
	"despacho/test/apptest"
)

// maxStatements is what a page may ask of the database, finding out who is signed in included.
const maxStatements = 12

// Every page is held to it, however much there is to show. Pages come from the route table: a new
// one is held to it by being there.
func TestPages_statementCount(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		fill(t, s, tenant)
		ofCash := cashPaths(t, s, tenant)
		admin := models.User{Admin: true}
		v := getAs(t, s, tenant, &admin)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		for _, route := range panel.New(panel.Options{Config: s.Config, DB: s.App.DB, Orders: s.App.Orders}).Routes() {
			if route.Method != http.MethodGet {
				continue
			}
			path, known := ofCash[route.Path]
			if !known {
				path = pathOf(t, s, token, route.Path)
			}
			for _, turn := range []string{"first", "second"} {
				id := uuid.NewString()
				p := v.getWith(path, "X-Request-Id", id)
				require.Contains(t, []int{http.StatusOK, http.StatusSeeOther}, p.Status, "%s\n%s", path, p.Text)
				require.Equal(t, id, p.Header.Get("X-Request-Id"))
				count := s.Statements(id)
				t.Logf("%d statements: %s, %s time", count, route.Path, turn)
				require.Positive(t, count, "a page asks at least who is signed in")
				require.LessOrEqual(t, count, int64(maxStatements), "%s, %s time", path, turn)
			}
		}
	})
}

// fill gives a tenant so much of everything that a statement for each of something would be
// noticed.
func fill(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) {
	t.Helper()
	now := time.Now().UTC()
	var settings []any
	for i := range maxStatements + 2 {
		id, number := tenant.Operator.ID, fmt.Sprint(i)
		settings = append(settings,
			&models.Store{ID: uuid.New(), OperatorID: id, Name: "Tienda " + number, Active: true, CreatedAt: now},
			&models.Rider{ID: uuid.New(), OperatorID: id, Name: "Motorizado " + number, Phone: "+51987654321", Active: true, CreatedAt: now},
			&models.Branch{ID: uuid.New(), OperatorID: id, Name: "Sucursal " + number, Active: true, CreatedAt: now},
			&models.Size{ID: uuid.New(), OperatorID: id, Code: "T" + number, Name: "Tamaño " + number, Active: true, CreatedAt: now},
			&models.RiskZone{ID: uuid.New(), OperatorID: id, Name: "Zona " + number, Words: "pasaje " + number, Active: true, CreatedAt: now})
		tenant.NewKey(t, models.APIKey{})
	}
	for i := range maxStatements + 2 {
		settings = append(settings, &models.StorePrice{ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: tenant.StoreA.ID, Price: 700,
			LocationID: &apptest.Miraflores, FromDay: fmt.Sprintf("2026-01-%02d", i+1), CreatedAt: now})
	}
	tenant.Change(t, settings...)
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, tenant.Key, receiver)
	for range maxStatements + 2 {
		create(t, s, tenant.KeyA, nil)
	}
	var rows []models.Order
	for i := range 60 {
		row := tenant.Row(now.Add(-time.Duration(i)*time.Hour), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[i%2], time.Hour))
		if i%3 == 0 {
			row = tenant.Row(now.Add(-time.Duration(i)*time.Hour), apptest.CancelledBy(models.ByStore, "Motivo "+fmt.Sprint(i)))
		}
		rows = append(rows, row)
	}
	tenant.InsertRows(t, rows)
}

// resources are where the panel's JSON API lists what a page shows one of.
var resources = map[string]string{
	"pedidos": "orders", "tiendas": "stores", "motorizados": "riders", "sucursales": "branches", "tamanos": "sizes", "cobertura": "coverage", "tarifas": "store-prices",
	"zonas-de-riesgo": "risk-zones", "usuarios": "users", "claves": "keys", "webhooks": "webhooks", "entregas": "deliveries",
}

// cashPaths are the addresses of pages about money, by route, of which there is some.
func cashPaths(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) map[string]string {
	t.Helper()
	books, caller := cash.New(s.App.DB, s.App.Clock()), cash.Caller{Operator: &tenant.Operator, UserID: uuid.New()}
	rider, store := tenant.Riders[0].ID, tenant.StoreA.ID
	in, _, err := books.HandIn(t.Context(), caller, rider, &cash.HandInRequest{OnAccount: true, Counted: 100})
	require.NoError(t, err)
	to := s.App.Clock().Now().In(tenant.Operator.TimeZone()).Format(time.DateOnly)
	draft, err := books.Draft(t.Context(), caller.Operator, &store, to)
	require.NoError(t, err)
	settled, err := books.Issue(t.Context(), caller, &store, to, draft.Net())
	require.NoError(t, err)
	settlement := "/panel/liquidaciones/" + settled.ID.String()
	return map[string]string{
		"/panel/caja/rendir": "/panel/caja/rendir?motorizado=" + rider.String(), "/panel/caja/rendiciones/:id": "/panel/caja/rendiciones/" + in.ID.String(),
		"/panel/liquidaciones/nueva": "/panel/liquidaciones/nueva?tienda=" + store.String(), "/panel/liquidaciones/:id": settlement,
		"/panel/liquidaciones/:id/pedidos.csv": settlement + "/pedidos.csv",
	}
}

// queries are what pages ask for that show nothing without it.
var queries = map[string]string{"/panel/ubicaciones": "?q=mira"}

// pathOf is the address of a page that is there.
func pathOf(t *testing.T, s *apptest.Service, token, path string) string {
	t.Helper()
	if !strings.Contains(path, ":") {
		return path + queries[path]
	}
	require.Equal(t, 1, strings.Count(path, ":"), "this test does not know what to put into %s", path)
	require.Contains(t, path, ":id", "this test does not know what to put into %s", path)
	resource, known := resources[strings.Split(path, "/")[2]]
	require.True(t, known, "this test does not know where to find an id for %s", path)
	answer := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/" + resource, Token: token})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return strings.Replace(path, ":id", firstID(t, answer.Text), 1)
}

// firstID is the id of the first thing in a list, whatever the list is called.
func firstID(t *testing.T, text string) string {
	t.Helper()
	var answer struct{ Data any }
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	list, ok := answer.Data.([]any)
	if members, isObject := answer.Data.(map[string]any); isObject {
		for _, member := range members {
			if list, ok = member.([]any); ok {
				break
			}
		}
	}
	require.True(t, ok && len(list) > 0, "a list with something in it: %s", text)
	return list[0].(map[string]any)["id"].(string)
}
