package api_test

import (
	"bufio"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// stream is an open stream of changes of the panel.
type stream struct {
	t         *testing.T
	status    int
	requestID string
	lines     *bufio.Scanner
}

func openStream(t *testing.T, s *apptest.Service, token string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL+"/panel/cambios", nil)
	require.NoError(t, err)
	v := &stream{t: t, requestID: uuid.NewString()}
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Accept": "text/event-stream", "X-Request-Id": v.requestID} {
		request.Header.Set(name, value)
	}
	response, err := apptest.Client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); response.Body.Close() })
	v.status, v.lines = response.StatusCode, bufio.NewScanner(response.Body)
	return v
}

// untilTold returns when the stream says that orders have changed; false if it ends before.
func (v *stream) untilTold() bool {
	for v.lines.Scan() {
		if v.lines.Text() == "data: changed" {
			return true
		}
	}
	return false
}

// A stream tells that an order of its operator, or of its store, has changed, also where the change
// is no event: a reception, a correction. Between two changes it makes no statement, and neither
// what another operator or another store does is told, nor anything once the session has ended.
func TestChanges_areToldWithoutAskingTheDatabase(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, other := s.NewTenant(t), s.NewTenant(t)
		mine := tenant.Row(time.Now(), func(o *models.Order) { o.StoreID = &tenant.StoreA.ID })
		theirs := tenant.Row(time.Now(), func(o *models.Order) { o.StoreID = &tenant.StoreB.ID })
		tenant.InsertRows(t, []models.Order{mine, theirs})
		user := models.User{StoreID: &tenant.StoreA.ID}
		operator, store := openStream(t, s, tenant.SignIn(t, nil)), openStream(t, s, tenant.SignInAs(t, &user))
		elsewhere := openStream(t, s, other.SignIn(t, nil))
		streams := []*stream{operator, store, elsewhere}
		statements := map[*stream]int64{}
		for _, v := range streams {
			require.Equal(t, http.StatusOK, v.status)
			require.True(t, v.untilTold(), "once for what has changed before")
			statements[v] = s.Statements(v.requestID)
		}
		touch := func(order *models.Order, name string) {
			err := s.App.DB.Query(t.Context()).Model(&models.Order{}).Where("id = ?", order.ID).
				UpdateColumns(map[string]any{"recipient_name": name, "updated_at": time.Now().UTC()}).Error
			require.NoError(t, err)
		}
		const recheck = 1
		touch(&theirs, "Ana")
		require.True(t, operator.untilTold())
		require.True(t, operator.untilTold(), "once more for what was committed later")
		require.Equal(t, statements[operator]+2*recheck, s.Statements(operator.requestID), "nothing but the session is read")
		touch(&mine, "Eva")
		require.True(t, store.untilTold())
		require.Equal(t, statements[store]+recheck, s.Statements(store.requestID), "not told of the other store's order")
		require.Equal(t, statements[elsewhere], s.Statements(elsewhere.requestID), "not told of another operator's orders")

		require.NoError(t, s.App.DB.Query(t.Context()).Where("user_id = ?", user.ID).Delete(&models.Session{}).Error)
		touch(&mine, "Rosa")
		for store.untilTold() { // of the change before
		}
	})
}

// Streams are bounded for a user, need a session, and are for scripts that read streams.
func TestChanges_areBounded(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		var open []*stream
		for range 8 {
			open = append(open, openStream(t, s, token))
			require.Equal(t, http.StatusOK, open[len(open)-1].status)
		}
		require.Equal(t, http.StatusServiceUnavailable, openStream(t, s, token).status)
		require.Equal(t, http.StatusOK, openStream(t, s, tenant.SignIn(t, nil)).status, "another user's")
		require.Equal(t, http.StatusUnauthorized, openStream(t, s, "inventado").status)
		plain := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/panel/cambios", Token: token})
		requireRefused(t, plain, http.StatusBadRequest, "invalid_fields")
	})
}

// Streams end when the process stops.
func TestChanges_endWithTheProcess(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	ended := make(chan bool, 1)
	t.Run("until the process stops", func(process *testing.T) {
		s := apptest.Boot(process, testenv.SQLite(process), apptest.Options{NoWorker: true})
		v := openStream(t, s, s.NewTenant(process).SignIn(process, nil))
		require.True(t, v.untilTold())
		go func() { ended <- v.untilTold() }()
	})
	require.False(t, <-ended)
}
