package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// The next release migrates the database while this one serves: no request fails for it, although
// the statements that this one has prepared are about tables that have changed. A pooler needs
// statements without names, whose cached descriptions must hold as well.
func TestMigration_whileRequestsAreServed(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) string{
		"sqlite": testenv.SQLite, "postgres": testenv.Postgres,
		"pooler": func(t testing.TB) string { return withoutPreparedStatements(t, testenv.Postgres(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			useAroundMigration(t, open(t))
		})
	}
}

// withoutPreparedStatements is the DATABASE_URL that docs/operations.md gives for a pooler.
func withoutPreparedStatements(t testing.TB, databaseURL string) string {
	t.Helper()
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	query := address.Query()
	query.Set("default_query_exec_mode", "cache_describe")
	address.RawQuery = query.Encode()
	return address.String()
}

func useAroundMigration(t *testing.T, databaseURL string) {
	t.Helper()
	s := apptest.Boot(t, databaseURL, apptest.Options{})
	tenant := s.NewTenant(t)
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, tenant.Key, receiver)
	staff := tenant.SignInAs(t, &models.User{Admin: true})
	use := func(events int) {
		id := s.CreateOrder(t, tenant.Key)
		panelMove(t, s, staff, id, "receive", nil, http.StatusOK)
		panelMove(t, s, staff, id, "assign", map[string]any{"rider_id": tenant.Riders[0].ID}, http.StatusOK)
		panelMove(t, s, staff, id, "deliver", nil, http.StatusOK)
		receiver.WaitFor(t, events)
		for _, path := range []string{"/v1/orders/" + id, "/v1/orders", "/v1/stores", "/v1/webhooks"} {
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: tenant.Key})
			require.Equal(t, http.StatusOK, answer.Status, "%s: %s", path, answer.Text)
		}
		for _, path := range []string{
			"orders", "orders/" + id, "keys", "stores", "riders", "branches", "sizes", "coverage", "store-prices", "risk-zones", "webhooks", "deliveries", "settings", "users", "audit",
		} {
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/api/" + path, Token: staff})
			require.Equal(t, http.StatusOK, answer.Status, "%s: %s", path, answer.Text)
		}
		require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"}).Status)
	}
	use(3)
	require.NoError(t, dbtest.ExpandSchema(t.Context(), s.App.DB, 90001))
	use(6)
}
