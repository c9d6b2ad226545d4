package clients

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// Every client does the same with a running service.
func TestService(t *testing.T) {
	cases, err := table()
	require.NoError(t, err)
	require.NotEmpty(t, cases.Service)
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		eachLanguage(t, func(t *testing.T, r *runner) {
			tenant, receiver := s.NewTenant(t), apptest.NewReceiver(t, nil)
			known := map[string]any{
				"miraflores": apptest.Miraflores.String(), "risky": apptest.SanJuan.String(), "uncovered": apptest.Cusco.String(),
				"receiver": receiver.URL + "/hook", "tooLong": strings.Repeat("ñ", 256),
				"testKey": tenant.NewKey(t, models.APIKey{Test: true}),
			}
			for _, c := range cases.Service {
				key := tenant.KeyA
				if c.Key != nil {
					key, _ = resolve(t, *c.Key, known).(string)
				}
				with, _ := resolve(t, c.With, known).(map[string]any)
				c.Result, c.ResultHas = resolve(t, c.Result, known), resolve(t, c.ResultHas, known)
				o := r.call(t, s.BaseURL, key, c.Call, with)
				c.require(t, o)
				require.Empty(t, o.Waits, c.Name)
				if c.Save != "" {
					known[c.Save] = o.Result
				}
			}

			events := receiver.Events()
			require.Len(t, events, 2, "a test, and again after the secret was changed")
			first, second := known["webhook"].(map[string]any)["secret"].(string), known["rotated"].(map[string]any)["secret"].(string)
			for _, scheme := range []string{"service", "standard"} {
				require.True(t, r.verifies(t, scheme, events[0].Header, events[0].Body, first), scheme)
				require.False(t, r.verifies(t, scheme, events[0].Header, events[0].Body, second), scheme)
				require.True(t, r.verifies(t, scheme, events[1].Header, events[1].Body, second), scheme)
				require.True(t, r.verifies(t, scheme, events[1].Header, events[1].Body, first), "%s: the old secret has its day", scheme)
				require.True(t, r.verifies(t, scheme, events[0].Header, events[0].Body, second, first), "%s: one of two", scheme)
			}
		})
	})
}

// verifies asks the client whether a request is genuine.
func (r *runner) verifies(t *testing.T, scheme string, header http.Header, body []byte, secrets ...string) bool {
	t.Helper()
	headers := map[string]string{}
	for name := range header {
		headers[name] = header.Get(name)
	}
	o := r.call(t, "http://unused.example", "", "verify", map[string]any{"scheme": scheme, "headers": headers, "body": string(body), "secrets": secrets})
	require.Empty(t, o.Other)
	accepted, is := o.Result.(bool)
	require.True(t, is, o)
	return accepted
}
