package activities_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/internal/config"
	"despacho/internal/dev/dniprovider"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// redirector serves short links: /larco redirects to a pin in Miraflores, /address to a page
// without coordinates, /loop to itself, /inside to a loopback address.
func redirector(t *testing.T) *httptest.Server {
	t.Helper()
	places := map[string]string{
		"/larco":   "https://www.google.com/maps/place/Larcomar/@-12.13,-77.03,17z/data=!3m1!4b1!4m6!3m5!1s0x0:0x0!8m2!3d-12.1319!4d-77.0305",
		"/address": "https://www.google.com/maps?q=Av.+Larco+345&ftid=0x0:0x0",
		"/lisbon":  "https://www.google.com/maps/search/38.7223,-9.1393",
		"/loop":    "/loop",
		"/inside":  "http://127.0.0.1:1/admin",
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, known := places[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	}))
	t.Cleanup(server.Close)
	return server
}

// panelOrder reads an order as a panel user of the operator.
func panelOrder(t *testing.T, s *apptest.Service, token, id string) map[string]any {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/orders/" + id, Token: token})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer.Data
}

func timelineTypes(order map[string]any) []string {
	var types []string
	for _, entry := range order["timeline"].([]any) {
		types = append(types, entry.(map[string]any)["type"].(string))
	}
	return types
}

func eachDatabase(t *testing.T, options func() apptest.Options, run func(t *testing.T, s *apptest.Service)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) { run(t, apptest.Boot(t, databaseURL, options())) })
}

func TestMapLink_shortLinkGetsItsPoint(t *testing.T) {
	server := redirector(t)
	eachDatabase(t, func() apptest.Options { return apptest.Options{ShortLinkHosts: []string{server.URL}} }, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.Key, map[string]any{"delivery_maps_url": server.URL + "/larco"})
		var order map[string]any
		poll.Until(t, func() error {
			if order = panelOrder(t, s, operator, id); order["delivery_lat"] == nil {
				return fmt.Errorf("no point yet")
			}
			return nil
		})
		require.InDelta(t, -12.1319, order["delivery_lat"], 1e-9)
		require.InDelta(t, -77.0305, order["delivery_lng"], 1e-9)
		require.Equal(t, "pin", order["point_source"])
		require.Equal(t, []string{"created", "point_resolved"}, timelineTypes(order))

		tracking := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/track/" + order["guide_code"].(string)})
		require.Len(t, tracking.Data["events"], 1, "what happens beside the moves is for the operator")
	})
}

// An unresolvable link leaves the order without a point, adds a timeline entry for the operator,
// and the operator can set the point.
func TestMapLink_unresolvableLinkLeavesNoPoint(t *testing.T) {
	server := redirector(t)
	eachDatabase(t, func() apptest.Options { return apptest.Options{ShortLinkHosts: []string{server.URL}} }, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		for _, path := range []string{"/dead", "/address", "/loop", "/inside", "/lisbon"} {
			id := s.CreateOrder(t, tenant.Key, map[string]any{"delivery_maps_url": server.URL + path})
			poll.Until(t, func() error {
				if types := timelineTypes(panelOrder(t, s, operator, id)); len(types) < 2 {
					return fmt.Errorf("%s: no note yet", path)
				}
				return nil
			})
			order := panelOrder(t, s, operator, id)
			require.Nil(t, order["delivery_lat"], path)
			require.Equal(t, []string{"created", "point_unresolved"}, timelineTypes(order), path)

			require.Contains(t, withoutPoint(t, s, operator), id, "the panel shows orders without a point")
			completed := s.Do(t, apptest.Request{Method: "PATCH", Path: "/panel/api/orders/" + id + "/point", Token: operator, Body: map[string]any{"lat": -12.1, "lng": -77.03}})
			require.Equal(t, http.StatusOK, completed.Status, completed.Text)
			require.Equal(t, "operator", panelOrder(t, s, operator, id)["point_source"])
			require.NotContains(t, withoutPoint(t, s, operator), id)
		}
	})
}

func withoutPoint(t *testing.T, s *apptest.Service, token string) []string {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/orders?without_point=true", Token: token})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	var ids []string
	for _, order := range answer.Data["orders"].([]any) {
		ids = append(ids, order.(map[string]any)["id"].(string))
	}
	return ids
}

// A link resolved later does not overwrite the operator's point.
func TestMapLink_operatorsPointStays(t *testing.T) {
	server := redirector(t)
	eachDatabase(t, func() apptest.Options { return apptest.Options{ShortLinkHosts: []string{server.URL}, NoWorker: true} }, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.Key, map[string]any{"delivery_maps_url": server.URL + "/larco"})
		set := s.Do(t, apptest.Request{Method: "PATCH", Path: "/panel/api/orders/" + id + "/point", Token: operator, Body: map[string]any{"lat": -12.5, "lng": -77.5}})
		require.Equal(t, http.StatusOK, set.Status, set.Text)
		s.StartWorker(t)
		received := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/orders/" + id + "/receive", Token: operator})
		require.Equal(t, http.StatusOK, received.Status, received.Text)
		order := panelOrder(t, s, operator, id)
		require.EqualValues(t, -12.5, order["delivery_lat"])
		require.Equal(t, "operator", order["point_source"])
	})
}

func withDNIProvider(t *testing.T) func() apptest.Options {
	t.Helper()
	provider := httptest.NewServer(dniprovider.Provider{SlowAnswer: 100 * time.Millisecond})
	t.Cleanup(provider.Close)
	return func() apptest.Options {
		return apptest.Options{Configure: func(cfg *config.Config) {
			cfg.DNIProvider, cfg.DNIURL = []string{"dev"}, []string{provider.URL}
		}}
	}
}

func dni(number string) map[string]any {
	return map[string]any{"recipient_doc_type": "dni", "recipient_doc_number": number}
}

func TestIdentity_outcomesAreKeptWithTheOrder(t *testing.T) {
	eachDatabase(t, withDNIProvider(t), func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		for name, c := range map[string]struct {
			changes  map[string]any
			outcome  any
			matches  any
			verified any
		}{
			"found under the recipient's name":  {dni(dniprovider.DNIRosa), "found", true, true},
			"found under another name":          {dni(dniprovider.DNILuz), "found", false, false},
			"found slowly, under another name":  {dni(dniprovider.DNISlow), "found", false, false},
			"not found":                         {dni("12345678"), "not_found", nil, false},
			"the provider is down":              {dni(dniprovider.DNIFails), "unavailable", nil, false},
			"the provider refuses us":           {dni(dniprovider.DNIWithoutCredit), "quota_or_credentials", nil, false},
			"not eight digits: nobody is asked": {dni("1234567"), nil, nil, false},
		} {
			id := s.CreateOrder(t, tenant.Key, c.changes)
			poll.Until(t, func() error {
				order := panelOrder(t, s, operator, id)
				if order["recipient_doc_verified"] == nil {
					return fmt.Errorf("%s: not asked yet", name)
				}
				if order["doc_outcome"] != c.outcome { // a provider that a busy machine makes too slow is asked again
					return fmt.Errorf("%s: %v, not %v", name, order["doc_outcome"], c.outcome)
				}
				return nil
			})
			order := panelOrder(t, s, operator, id)
			require.Equal(t, c.matches, order["doc_name_matches"], name)
			require.Equal(t, c.verified, order["recipient_doc_verified"], name)
			require.Equal(t, "registered", order["status"], name)
		}
	})
}

// Only a Peruvian DNI is verified; other documents are stored as declared and never sent to a
// provider.
func TestIdentity_otherDocumentsAreNeverSent(t *testing.T) {
	asked := make(chan string, 100)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
		dniprovider.Provider{}.ServeHTTP(w, r)
	}))
	t.Cleanup(provider.Close)
	options := func() apptest.Options {
		return apptest.Options{Configure: func(cfg *config.Config) {
			cfg.DNIProvider, cfg.DNIURL = []string{"dev"}, []string{provider.URL}
		}}
	}
	eachDatabase(t, options, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		chile := s.NewTenant(t, func(o *models.Operator) { o.CountryCode = "CL" })
		operator := tenant.SignIn(t, nil)
		for _, kind := range []string{"ce", "passport", "other"} {
			id := s.CreateOrder(t, tenant.Key, map[string]any{"recipient_doc_type": kind, "recipient_doc_number": "12345678"})
			received := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/orders/" + id + "/receive", Token: operator})
			require.Equal(t, http.StatusOK, received.Status, received.Text)
			requireNothingPending(t, s.Temporal, id)
			require.Nil(t, panelOrder(t, s, operator, id)["recipient_doc_verified"])
		}
		id := s.CreateOrder(t, chile.Key, dni("12345678"), map[string]any{"recipient_phone": "+51987654321"})
		received := s.Do(t, apptest.Request{Method: "POST", Path: "/panel/api/orders/" + id + "/receive", Token: chile.SignIn(t, nil)})
		require.Equal(t, http.StatusOK, received.Status, received.Text)
		requireNothingPending(t, s.Temporal, id)
		require.Empty(t, asked)
	})
}

// requireNothingPending waits until an order's workflow has no pending activities.
func requireNothingPending(t *testing.T, temporal client.Client, orderID string) {
	t.Helper()
	poll.Until(t, func() error {
		description, err := temporal.DescribeWorkflowExecution(t.Context(), "order-"+orderID, "")
		if err == nil && len(description.GetPendingActivities()) > 0 {
			return fmt.Errorf("pending: %v", description.GetPendingActivities())
		}
		return err
	})
}

// The history of an order with a DNI and a map link contains neither.
func TestIdentity_noDNIInWorkflowPayloads(t *testing.T) {
	eachDatabase(t, withDNIProvider(t), func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.Key, dni(dniprovider.DNIRosa), map[string]any{"delivery_maps_url": "https://maps.app.goo.gl/secret-place"})
		poll.Until(t, func() error {
			if order := panelOrder(t, s, operator, id); order["recipient_doc_verified"] == nil {
				return fmt.Errorf("not asked yet")
			}
			return nil
		})
		history := historyText(t, s.Temporal, "order-"+id)
		require.Contains(t, history, id)
		for _, private := range []string{dniprovider.DNIRosa, "Rosa", "DIAZ", "987654321", "Larco", "secret-place"} {
			require.NotContains(t, history, private)
		}
	})
}

func historyText(t *testing.T, temporal client.Client, workflowID string) string {
	t.Helper()
	var text strings.Builder
	iterator := temporal.GetWorkflowHistory(t.Context(), workflowID, "", false, 0)
	for iterator.HasNext() {
		event, err := iterator.Next()
		require.NoError(t, err)
		content, err := json.Marshal(event)
		require.NoError(t, err)
		text.Write(content)
		for _, payload := range event.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads() {
			text.Write(payload.GetData())
		}
		for _, payload := range event.GetActivityTaskScheduledEventAttributes().GetInput().GetPayloads() {
			text.Write(payload.GetData())
		}
		for _, payload := range event.GetActivityTaskCompletedEventAttributes().GetResult().GetPayloads() {
			text.Write(payload.GetData())
		}
	}
	return text.String()
}

// An order is created also while every provider is down.
func TestIdentity_everyProviderDown(t *testing.T) {
	options := func() apptest.Options {
		return apptest.Options{Configure: func(cfg *config.Config) {
			cfg.DNIProvider, cfg.DNIURL = []string{"dev", "decolecta"}, []string{"http://127.0.0.1:1", "http://127.0.0.1:1"}
		}}
	}
	eachDatabase(t, options, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.Key, dni(dniprovider.DNIRosa))
		poll.Until(t, func() error {
			if order := panelOrder(t, s, operator, id); order["doc_outcome"] != "unavailable" {
				return fmt.Errorf("outcome %v", order["doc_outcome"])
			}
			return nil
		})
		require.Equal(t, false, panelOrder(t, s, operator, id)["recipient_doc_verified"])
	})
}
