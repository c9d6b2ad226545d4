package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// The JSON API does not ask: it says what is odd about a point.
func TestCorrect_warnsAboutAnOddPoint(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		d, id := desk{t, s, tenant.SignIn(t, nil)}, s.CreateOrder(t, tenant.KeyA)
		warning := func(lat, lng float64) string {
			answer := d.patch("/orders/"+id+"/point", fields{"lat": lat, "lng": lng})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.EqualValues(t, lat, answer.Data["delivery_lat"])
			return answer.Warning
		}
		require.Empty(t, warning(-12.12, -77.03))
		require.Contains(t, warning(-77.03, -12.12), "al revés")
		require.Regexp(t, `a unos 5\d\d km de Miraflores`, warning(-13.53, -71.97))
		kept := correct(t, s, tenant.KeyA, id, fields{"location_id": apptest.Surco})
		require.Regexp(t, `a unos 5\d\d km de Santiago de Surco`, kept.Warning, "the point stays, far from the new destination")
		require.EqualValues(t, -13.53, kept.Data["delivery_lat"])
		require.Empty(t, correct(t, s, tenant.KeyA, id, fields{"notes": "Timbre 3"}).Warning, "neither the point nor the destination changes")
		linked := correct(t, s, tenant.KeyA, id, fields{"delivery_maps_url": "https://www.google.com/maps?q=-12.125,-77.029"})
		require.EqualValues(t, -12.125, linked.Data["delivery_lat"], "a new link has a new point")
		require.Empty(t, linked.Warning)
		unread := correct(t, s, tenant.KeyA, id, fields{"delivery_maps_url": "https://www.google.com/maps?q=Larcomar"})
		require.Nil(t, unread.Data["delivery_lat"], "the old point is that of another place")
		require.Contains(t, unread.Warning, "no dio un punto")
		require.Nil(t, correct(t, s, tenant.KeyA, id, fields{"delivery_maps_url": nil}).Data["delivery_maps_url"])
	})
}

// Null removes the point, and with the map link the point that came from it.
func TestCorrect_removesThePoint(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		link, none := "https://www.google.com/maps?q=-12.125,-77.029", fields{"delivery_lat": nil, "delivery_lng": nil}
		ask := func(id string, body fields) *apptest.Answer {
			answer := correct(t, s, tenant.Key, id, body)
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.Empty(t, answer.Warning)
			require.Equal(t, answer.Data, get(t, s, tenant.Key, "/v1/orders/"+id).Data)
			return answer
		}
		given := s.CreateOrder(t, tenant.KeyA, fields{"delivery_lat": -12.12, "delivery_lng": -77.03, "delivery_maps_url": link})
		require.EqualValues(t, -12.12, ask(given, fields{"delivery_maps_url": nil}).Data["delivery_lat"], "the store gave it apart from the link")
		gone := ask(given, none)
		require.Nil(t, gone.Data["delivery_lat"])
		require.Nil(t, gone.Data["delivery_lng"])
		require.Nil(t, ask(given, none).Data["delivery_lat"], "again: nothing changes")

		linked := s.CreateOrder(t, tenant.KeyA, fields{"delivery_maps_url": link})
		require.Nil(t, ask(linked, fields{"delivery_maps_url": nil}).Data["delivery_lat"])
		require.EqualValues(t, -12.125, ask(linked, fields{"delivery_lat": nil, "delivery_lng": nil, "delivery_maps_url": link}).Data["delivery_lat"], "the point of a new link")
		require.EqualValues(t, -77.03, ask(linked, fields{"delivery_maps_url": nil, "delivery_lat": -12.12, "delivery_lng": -77.03}).Data["delivery_lng"])
		requireWrongFields(t, correct(t, s, tenant.Key, linked, fields{"delivery_lat": nil, "delivery_lng": -77}), "delivery_lat")

		d := desk{t, s, tenant.SignIn(t, nil)}
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+given, nil).Data["timeline"].([]any))
		require.Equal(t, []any{"created", "corrected", "corrected"}, column(timeline, "type"))
		require.Equal(t, []any{map[string]any{"field": "delivery_point", "old": "-12.12,-77.03", "new": nil}}, timeline[2]["changes"])
	})
}

// While short links are followed, their requests hold no connection to the database: the hosts of
// map links may take seconds, and nobody else is kept waiting for them.
func TestCorrect_followsLinksWithoutAConnection(t *testing.T) {
	t.Parallel()
	const links = 4
	var following atomic.Int32
	released := make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		following.Add(1)
		<-released
		http.Redirect(w, r, "https://www.google.com/maps?q=-12.125,-77.029", http.StatusFound)
	}))
	t.Cleanup(host.Close)
	s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{NoWorker: true, ShortLinkHosts: []string{host.URL}, Configure: func(c *config.Config) {
		c.DatabaseMaxConns, c.Timeouts.Acquire = 2, time.Second
	}})
	tenant, other := s.NewTenant(t), s.NewTenant(t)
	token := tenant.SignIn(t, nil)
	statuses := make(chan int, links)
	for i := range links {
		id := insertedRow(t, tenant)
		request := apptest.Request{
			Method: http.MethodPatch, Path: "/v1/orders/" + id, Key: tenant.Key, Body: fields{"delivery_maps_url": host.URL + "/corregido"},
		}
		if i%2 == 0 {
			request = apptest.Request{
				Method: http.MethodPost, Path: "/panel/pedidos/" + id + "/punto", Token: token, Raw: []byte("delivery_point=" + url.QueryEscape(host.URL+"/pegado")),
				Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"},
			}
		}
		go func() {
			answer, err := s.Try(request)
			if assert.NoError(t, err) {
				statuses <- answer.Status
			}
		}()
	}
	poll.Until(t, func() error {
		if n := following.Load(); n < links {
			return fmt.Errorf("%d links are followed", n)
		}
		return nil
	})
	require.Equal(t, http.StatusOK, get(t, s, other.Key, "/v1/orders").Status, "another operator's request has a connection")
	close(released)
	for range links {
		require.Less(t, <-statuses, http.StatusBadRequest)
	}
}
