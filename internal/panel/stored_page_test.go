package panel_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

var liveKey = regexp.MustCompile(`dsp_live_[0-9A-Za-z]{32}`)

// A form is answered by a redirect: the page that follows can be reloaded and returned to, and
// shows a secret once.
func TestForms_areAnsweredByARedirect(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		sent := v.postOnly("/panel/claves", url.Values{"name": {"Sistema"}, "scopes": {"read:orders"}})
		require.Equal(t, http.StatusSeeOther, sent.Status)
		require.Empty(t, liveKey.FindString(sent.Text+sent.Location+strings.Join(sent.Header["Set-Cookie"], "")), "neither the redirect nor a cookie has the key")
		require.True(t, strings.HasPrefix(sent.Location, "/panel/claves?resultado="), sent.Location)
		require.Equal(t, "/panel/claves", visit(t, s, tenant, nil).get(sent.Location).Location, "another session does not get it")
		require.NotEmpty(t, liveKey.FindString(v.read(sent.Location).Text))
		reloaded := v.get(sent.Location)
		require.Equal(t, []any{http.StatusSeeOther, "/panel/claves"}, []any{reloaded.Status, reloaded.Location}, "it is shown once")
		list := v.read(reloaded.Location)
		require.Empty(t, liveKey.FindString(list.Text))
		require.Equal(t, 1, strings.Count(list.words(), "Revocar Sistema"), "reloading makes no second key")

		wrong := v.postOnly("/panel/claves", url.Values{"name": {"Otra"}})
		require.Equal(t, http.StatusSeeOther, wrong.Status)
		for range 2 {
			again := v.get(wrong.Location)
			require.Equal(t, http.StatusUnprocessableEntity, again.Status)
			require.Contains(t, again.Text, `value="Otra"`, "what was typed is there after a reload, too")
		}
		require.Contains(t, v.get("/panel/claves?resultado=nada").Location, "/panel/claves")
	})
}

// With another SECRET_KEY, a page that is kept behaves as one that has expired.
func TestForms_resultsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		boot := func(configure func(*config.Config)) *apptest.Service {
			return apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: configure})
		}
		before := boot(nil)
		v := visit(t, before, before.NewTenant(t), nil)
		sent := v.postOnly("/panel/asignacion?estado=assigned", url.Values{"id": {"nada"}})
		require.Contains(t, v.get(sent.Location).words(), "Es obligatorio.")
		v.base = boot(func(c *config.Config) { c.SecretKey = "otra-clave-otra-clave-otra-clave-" }).BaseURL
		gone := v.get(sent.Location)
		require.Equal(t, []any{http.StatusSeeOther, "/panel/asignacion?estado=assigned"}, []any{gone.Status, gone.Location}, gone.words())
	})
}

// Reloading the page of a rotation does not rotate again: the store's server goes on.
func TestForms_reloadingARotationDoesNotRotate(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		hook, _ := s.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
		v := visit(t, s, tenant, nil)
		secrets := func() (secret, previous []byte) {
			row := s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT secret, previous_secret FROM webhooks WHERE id = '"+hook+"'")
			require.NoError(t, row.Scan(&secret, &previous))
			return secret, previous
		}
		sent := v.postOnly("/panel/webhooks/"+hook+"/rotar", nil)
		require.True(t, strings.HasPrefix(sent.Location, "/panel/webhooks/"+hook+"?resultado="), sent.Location)
		require.Contains(t, v.read(sent.Location).words(), "Secreto nuevo")
		secret, previous := secrets()
		require.NotContains(t, v.read(v.get(sent.Location).Location).words(), "Secreto nuevo")
		again, before := secrets()
		require.Equal(t, [][]byte{secret, previous}, [][]byte{again, before})
	})
}

// The result of an assignment can be returned to for a while; a session keeps a bounded number of
// such pages, and none after it has ended.
func TestForms_resultsAreKeptForAWhile(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		ofTenant := " WHERE session_id IN (SELECT sessions.id FROM sessions JOIN users ON users.id = sessions.user_id WHERE users.operator_id = '" +
			tenant.Operator.ID.String() + "')"
		stored := func() int {
			var count int
			require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM stored_pages"+ofTenant).Scan(&count))
			return count
		}
		sent := v.postOnly("/panel/asignacion?estado=assigned", url.Values{"id": {"nada"}})
		require.Contains(t, sent.Location, "estado=assigned", "the filter stays")
		require.Contains(t, v.get(sent.Location).words(), "Es obligatorio.")
		for range 25 {
			v.postOnly("/panel/asignacion", url.Values{"id": {"nada"}})
		}
		require.Equal(t, 20, stored())
		require.Equal(t, "/panel/asignacion?estado=assigned", v.get(sent.Location).Location, "the oldest are gone")
		// Only this test's pages expire: other tests have pages in the same database.
		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE stored_pages SET expires_at = created_at"+ofTenant)
		require.NoError(t, err)
		_, err = s.App.DB.ClearExpired(t.Context(), time.Now())
		require.NoError(t, err)
		require.Zero(t, stored())
		v.postOnly("/panel/asignacion", url.Values{"id": {"nada"}})
		require.Equal(t, 1, stored())
		require.Equal(t, http.StatusSeeOther, v.post("/panel/salir", nil).Status)
		require.Zero(t, stored())
	})
}
