package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// The printed order has got to the event, and a webhook of the test key gets it. An address that
// leads to another one makes no order and says so.
func TestTrigger_everyEvent(t *testing.T) {
	databaseURL := testenv.SQLite(t)
	database, err := db.Open(t.Context(), databaseURL, db.Options{ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	countries, locations := catalog.Embedded()
	locations = slices.DeleteFunc(locations, func(place catalog.Location) bool { return place.City != "Lima" && place.City != "" })
	require.NoError(t, database.LoadCatalog(t.Context(), countries, locations))
	require.NoError(t, database.Close())
	s := apptest.Boot(t, databaseURL, apptest.Options{})
	tenant := s.NewTenant(t)
	key, receiver := tenant.NewKey(t, models.APIKey{Test: true}), apptest.NewReceiver(t, nil)
	s.Register(t, key, receiver, map[string]any{"events": models.OrderEvents})

	for _, event := range models.OrderEvents {
		out, err := despacho(t, "", "trigger", string(event), "--url", s.BaseURL+"/", "--key", key)
		require.NoError(t, err, out)
		var order struct {
			triggeredOrder
			Test bool `json:"test"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &order), out)
		require.True(t, order.hasHad(event), out)
		require.True(t, order.Test)
		poll.Until(t, func() error {
			if !slices.ContainsFunc(receiver.Events(), func(one apptest.Received) bool {
				return one.Event == string(event) && one.Data["id"] == order.ID
			}) {
				return fmt.Errorf("%s did not arrive", event)
			}
			return nil
		})
	}

	// As a proxy answers that leads from http to https.
	proxy := httptest.NewServer(http.RedirectHandler(s.BaseURL+"/v1/orders", http.StatusMovedPermanently))
	defer proxy.Close()
	out, err := despacho(t, "", "trigger", "order.created", "--url", proxy.URL, "--key", key, "--location", apptest.Miraflores.String())
	require.ErrorContains(t, err, "answered 301 and names "+s.BaseURL, out)
}

// What cannot work is said before anything is requested, and what the service refuses is shown.
func TestTrigger_refusals(t *testing.T) {
	t.Setenv("DESPACHO_KEY", "")
	t.Setenv("DESPACHO_URL", "")
	_, err := despacho(t, "", "trigger", "order.lost", "--url", "despacho.example", "--key", "dsp_live_x")
	require.ErrorContains(t, err, `"order.lost" is no event`)
	require.ErrorContains(t, err, "--url or DESPACHO_URL must be")
	require.ErrorContains(t, err, "--key or DESPACHO_KEY must be a test key")

	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	_, err = despacho(t, "", "trigger", "order.created", "--url", s.BaseURL, "--key", "dsp_test_x", "--location", apptest.Miraflores.String())
	require.ErrorContains(t, err, "the service answered 401 invalid_api_key")

	t.Setenv("DESPACHO_KEY", "dsp_test_x")
	t.Setenv("DESPACHO_URL", s.BaseURL)
	_, err = despacho(t, "", "trigger", "order.created", "--location", apptest.Miraflores.String())
	require.ErrorContains(t, err, "the service answered 401 invalid_api_key", "as a key of the arguments is")
}
