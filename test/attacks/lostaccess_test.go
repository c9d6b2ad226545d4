package attacks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
)

// heldBack sends a request whose last byte is held back until before was called. The framing is how
// it says its length; who expects a 100 has been admitted when before is called. asked is false if
// the service answered without asking for the body.
func heldBack(t *testing.T, s *apptest.Service, framing, method, path string, header http.Header, content []byte, before func()) (status int, text string, asked bool) {
	t.Helper()
	connection, body := dial(t, s), string(content)
	answers := bufio.NewReader(connection)
	switch header = header.Clone(); framing {
	case chunked:
		header.Set("Transfer-Encoding", "chunked")
		body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	case expected:
		header.Set("Expect", "100-continue")
		fallthrough
	default:
		header.Set("Content-Length", fmt.Sprint(len(body)))
	}
	head := &strings.Builder{}
	fmt.Fprintf(head, "%s %s HTTP/1.1\r\nHost: despacho\r\n", method, path)
	require.NoError(t, header.Write(head))
	send(t, connection, head.String()+"\r\n")
	asked = true
	if framing == expected {
		const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
		line, err := answers.Peek(len(goOn))
		require.NoError(t, err)
		if asked = string(line) == goOn; asked {
			_, err = answers.Discard(len(goOn))
			require.NoError(t, err)
		}
	}
	if asked {
		send(t, connection, body[:len(body)-1])
		before()
		send(t, connection, body[len(body)-1:])
	}
	response, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(answer), asked
}

func send(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(connection, text)
	require.NoError(t, err)
}

// The framings of a body that is held back.
const (
	sized    = "a length"
	chunked  = "chunks"
	expected = "100-continue"
)

// Whatever takes a caller's access away while the last byte of a request is held back, and however
// that is done: nothing is written. Before, the same request is served.
func TestLostAccess_whileABodyIsHeldBack(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		change := func(tenant *apptest.Tenant, path string, members map[string]any) {
			answer := s.Do(t, apptest.Request{
				Method: http.MethodPatch, Path: "/panel/api/" + path, Token: tenant.SignInAs(t, &models.User{Admin: true}), Body: members,
			})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
		closeStore := func(tenant *apptest.Tenant, _ string, _ *models.User) {
			change(tenant, "stores/"+tenant.StoreA.ID.String(), map[string]any{"active": false})
		}
		suspend := func(tenant *apptest.Tenant, _ string, _ *models.User) { tenant.Suspend(t) }
		const orders, users, keys, movedToAnother = "/panel/api/orders", "/panel/api/users", "/panel/api/keys", "a user moved to another store"
		for name, l := range map[string]struct {
			path       string
			ofTheStore bool
			lose       func(tenant *apptest.Tenant, key string, user *models.User)
			status     int
		}{
			"a revoked key":              {"/v1/orders", false, func(tenant *apptest.Tenant, key string, _ *models.User) { tenant.RevokeKey(t, key) }, 401},
			"a closed store's key":       {"/v1/orders", true, closeStore, 403},
			"a suspended operator's key": {"/v1/orders", false, suspend, 403},
			"a plan without the API":     {"/v1/orders", false, func(tenant *apptest.Tenant, _ string, _ *models.User) { tenant.SetPlan(t, models.PlanBasic) }, 403},
			"a deactivated user": {orders, false, func(tenant *apptest.Tenant, _ string, user *models.User) {
				change(tenant, "users/"+user.ID.String(), map[string]any{"active": false})
			}, 401},
			"a demoted administrator": {users, false, func(tenant *apptest.Tenant, _ string, user *models.User) {
				change(tenant, "users/"+user.ID.String(), map[string]any{"admin": false})
			}, 403},
			"a user moved to a store": {keys, false, func(tenant *apptest.Tenant, _ string, user *models.User) {
				change(tenant, "users/"+user.ID.String(), map[string]any{"admin": false, "role": "store", "store_id": tenant.StoreA.ID})
			}, 403},
			movedToAnother: {orders, true, func(tenant *apptest.Tenant, _ string, user *models.User) {
				change(tenant, "users/"+user.ID.String(), map[string]any{"store_id": tenant.StoreB.ID})
			}, 403},
			"a suspended operator's people": {orders, false, suspend, 403},
			"a closed store's people":       {orders, true, closeStore, 403},
		} {
			for _, held := range []struct {
				framing string
				size    int
			}{{sized, 0}, {sized, 100 << 10}, {chunked, 0}, {expected, 0}} {
				what := fmt.Sprintf("%s, %s, %d", name, held.framing, held.size)
				if name == movedToAnother && held.framing != expected {
					continue // who is admitted afterwards creates it there
				}
				tenant := s.NewTenant(t)
				var store *uuid.UUID
				if l.ofTheStore {
					store = &tenant.StoreA.ID
				}
				key, user := tenant.NewKey(t, models.APIKey{StoreID: store}), &models.User{StoreID: store, Admin: store == nil}
				header := http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {key}, "Authorization": {"Bearer " + tenant.SignInAs(t, user)}}
				rows := func() int {
					return len(apptest.RowsOf[models.Order](t, tenant)) + len(apptest.RowsOf[models.User](t, tenant)) + len(apptest.RowsOf[models.APIKey](t, tenant))
				}
				create := func(before func()) (int, string) {
					members := bodyNaming(tenant)
					members["unknown"] = strings.Repeat("x", held.size)
					content, err := json.Marshal(members)
					require.NoError(t, err)
					status, text, _ := heldBack(t, s, held.framing, http.MethodPost, l.path, header, content, before)
					return status, text
				}
				before := rows()
				status, text := create(func() {})
				require.Equal(t, http.StatusCreated, status, "%s: %s", what, text)
				require.Equal(t, before+1, rows(), what)
				status, text = create(func() {
					l.lose(tenant, key, user)
					before = rows()
				})
				require.Equal(t, l.status, status, "%s: %s", what, text)
				require.Equal(t, before, rows(), what)
			}
		}
	})
}

// Every route that reads a body, with access taken away once it has asked for it: it refuses, and
// nothing changes.
func TestLostAccess_onEveryRoute(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		tried := 0
		for _, route := range routes(t) {
			if route.Method == http.MethodGet || route.Method == http.MethodOptions || isSignInOrOut(route.Path) || strings.HasSuffix(route.Path, "/activate") ||
				strings.HasSuffix(route.Path, "/ayuda") || // whose access is the link's own
				strings.Contains(route.Path, "/reset") || strings.Contains(route.Path, "/restablecer") || strings.HasPrefix(route.Path, "/panel/ingreso") {
				continue
			}
			user := &models.User{Admin: true}
			who := attacker{key: v.NewKey(t, models.APIKey{}), token: v.SignInAs(t, user), phone: v.ActivatePhone(t, v.Riders[0].ID)}
			path := strings.ReplaceAll(route.Path, ":id", uuid.NewString())
			header, content := http.Header{}, []byte(nil)
			header.Set("X-API-Key", who.key)
			header.Set("Authorization", "Bearer "+who.token)
			header.Set("Cookie", riderCookie+"="+who.phone)
			if isPage(path) && !strings.HasPrefix(path, "/panel/codec") {
				var contentType string
				contentType, content = asForm(t, path, bodyNaming(v.Tenant))
				header.Set("Content-Type", contentType)
			} else {
				var err error
				content, err = json.Marshal(bodyNaming(v.Tenant))
				require.NoError(t, err)
			}
			var before map[string][]string
			status, text, asked := heldBack(t, s, expected, route.Method, path, header, content, func() {
				v.RevokeKey(t, who.key)
				_, err := s.App.DB.SQL().ExecContext(t.Context(), "DELETE FROM sessions WHERE user_id = $1", user.ID)
				require.NoError(t, err)
				v.RevokePhone(t, v.Riders[0].ID)
				before = v.state(t)
			})
			require.True(t, asked, "%s %s: %d %s", route.Method, path, status, text)
			require.Equal(t, http.StatusUnauthorized, status, "%s %s: %s", route.Method, path, text)
			require.Equal(t, before, v.state(t), "%s %s", route.Method, path)
			tried++
		}
		require.Greater(t, tried, 60)
	})
}

// A file ends where its user loses access, without the total that a whole one ends with.
func TestLostAccess_duringADownload(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		token := tenant.SignInAs(t, user)
		rows, long := make([]models.Order, 200), strings.Repeat("x", 100<<10) // more than all buffers on the way
		for i := range rows {
			rows[i] = tenant.Row(apptest.FrozenAt, func(o *models.Order) { o.Product = long })
		}
		tenant.InsertRows(t, rows)
		connection := dial(t, s)
		send(t, connection, "GET /panel/pedidos.csv HTTP/1.1\r\nHost: despacho\r\nConnection: close\r\nAuthorization: Bearer "+token+"\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
		answer := s.Do(t, apptest.Request{
			Method: http.MethodPatch, Path: "/panel/api/users/" + user.ID.String(), Token: tenant.SignInAs(t, &models.User{Admin: true}),
			Body: map[string]any{"active": false},
		})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		sent, err := io.ReadAll(response.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", len(sent))
		require.NotContains(t, string(sent[max(0, len(sent)-1000):]), "TOTAL")
	})
}

// Of two administrators who demote each other at once one stays, whether there is a third or not;
// the other is refused, as one who is none by then.
func TestLostAccess_administratorsDemoteEachOther(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, third := range []bool{false, true} {
			tenant := s.NewTenant(t)
			if third {
				tenant.SignInAs(t, &models.User{Admin: true})
			}
			one, other := &models.User{Admin: true}, &models.User{Admin: true}
			tokens := []string{tenant.SignInAs(t, one), tenant.SignInAs(t, other)}
			demoted := make(chan *apptest.Answer, 2)
			for i, of := range []*models.User{other, one} {
				go func() {
					answer, err := s.Try(apptest.Request{Method: http.MethodPatch, Path: "/panel/api/users/" + of.ID.String(), Token: tokens[i], Body: map[string]any{"admin": false}})
					if err != nil {
						answer = &apptest.Answer{Text: err.Error()}
					}
					demoted <- answer
				}()
			}
			first, second := <-demoted, <-demoted
			require.ElementsMatch(t, []int{http.StatusOK, http.StatusForbidden}, []int{first.Status, second.Status}, "%s %s", first.Text, second.Text)
		}
	})
}

// A password that an administrator sets while its user changes it stays: the change, whose current
// password is not the current one any more, is refused.
func TestLostAccess_passwordResetDuringItsChange(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant, user := s.NewTenant(t), &models.User{}
		token := tenant.SignInAs(t, user)
		reset, err := s.App.DB.SQL().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = reset.Rollback() })
		_, err = reset.ExecContext(t.Context(), "UPDATE users SET password_hash = 'reset' WHERE id = $1", user.ID)
		require.NoError(t, err)
		var holder int
		require.NoError(t, reset.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&holder))
		changed := make(chan *apptest.Answer, 1)
		go func() {
			answer, err := s.Try(apptest.Request{Method: http.MethodPost, Path: "/panel/api/session/password", Token: token, Body: map[string]any{"current": apptest.Password, "new": "otra contraseña larga"}})
			if err != nil {
				answer = &apptest.Answer{Text: err.Error()}
			}
			changed <- answer
		}()
		poll.Until(t, func() error { // both hashes are made, and the change waits for the reset
			var waiting int
			err := s.App.DB.SQL().QueryRowContext(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))", holder).Scan(&waiting)
			if err == nil && waiting == 0 {
				err = errors.New("nobody waits for the reset")
			}
			return err
		})
		require.NoError(t, reset.Commit())
		answer := <-changed
		require.Equal(t, http.StatusUnauthorized, answer.Status, answer.Text)
		require.Equal(t, "reset", dbtest.Row[models.User](t, s.App.DB, "id = ?", user.ID).PasswordHash)
	})
}
