package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/riders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// phone is a rider's, by the value of its cookie.
type phone struct {
	t      *testing.T
	s      *apptest.Service
	cookie string
}

func (p phone) send(method, path string, body any) *apptest.Answer {
	p.t.Helper()
	return p.s.Do(p.t, apptest.Request{Method: method, Path: "/rider/api" + path, Phone: p.cookie, Body: body})
}

func (p phone) session() *apptest.Answer {
	p.t.Helper()
	return p.send(http.MethodGet, "/session", nil)
}

func (p phone) unlock(pin string) *apptest.Answer {
	p.t.Helper()
	return p.send(http.MethodPost, "/session", fields{"pin": pin})
}

func activate(t *testing.T, s *apptest.Service, token, pin string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/rider/api/activate", Body: fields{"token": token, "pin": pin}})
}

func newPhone(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) phone {
	t.Helper()
	return phone{t, s, tenant.ActivatePhone(t, tenant.Riders[0].ID)}
}

// linkToken is the token of a link that the panel gave.
func linkToken(t *testing.T, s *apptest.Service, link *apptest.Answer) string {
	t.Helper()
	require.Equal(t, http.StatusCreated, link.Status, link.Text)
	token, ours := strings.CutPrefix(link.String("url"), s.BaseURL+"/reparto#")
	require.True(t, ours, "the token is in the fragment, which no server is sent: %s", link.Text)
	return token
}

// The operator's link makes one phone the rider's, once, with the PIN that the rider chooses. The
// cookie is for this site alone, and the database holds nothing that opens anything.
func TestRiderSession_linkIsUsedOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		rider, operator := tenant.Riders[0], desk{t, s, tenant.SignIn(t, nil)}
		link := operator.post("/riders/"+rider.ID.String()+"/link", nil)
		require.Equal(t, "no-store", link.Header.Get("Cache-Control"))
		token := linkToken(t, s, link)

		for _, wrong := range []string{"", "123", "123456789", "12 34", "abcd", "１２３４", "12345\n"} {
			requireRefused(t, activate(t, s, token, wrong), http.StatusBadRequest, "invalid_fields", "pin")
		}
		requireRefused(t, activate(t, s, "", "2468"), http.StatusBadRequest, "invalid_fields", "token")
		requireRefused(t, activate(t, s, token+"x", "2468"), http.StatusUnauthorized, "link_invalid")
		activated := activate(t, s, token, "2468")
		require.Equal(t, http.StatusOK, activated.Status, "mistakes do not use it up: %s", activated.Text)
		require.Equal(t, fields{"id": rider.ID.String(), "name": rider.Name}, activated.Data["rider"])
		require.Equal(t, fields{"name": tenant.Operator.Name, "currency": "PEN", "timezone": "America/Lima"}, activated.Data["operator"])
		cookie := activated.Header.Get("Set-Cookie")
		require.Regexp(t, `^despacho_rider=[A-Za-z0-9_-]{43}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict$`, cookie)

		again := activate(t, s, token, "2468")
		requireRefused(t, again, http.StatusUnauthorized, "link_invalid")
		require.Empty(t, again.Header.Get("Set-Cookie"))
		mine := phone{t, s, apptest.PhoneOf(t, activated)}
		require.Equal(t, activated.Data, mine.session().Data)
		for _, stranger := range []string{"", token, mine.cookie + "x", uuid.NewString()} {
			requireRefused(t, phone{t, s, stranger}.session(), http.StatusUnauthorized, "no_device")
		}

		rows, err := s.App.DB.SQL().QueryContext(t.Context(), "SELECT * FROM rider_devices WHERE rider_id = '"+rider.ID.String()+"'")
		require.NoError(t, err)
		defer rows.Close()
		columns, err := rows.Columns()
		require.NoError(t, err)
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			require.NoError(t, rows.Scan(into...))
			for _, secret := range []string{token, mine.cookie, "2468"} {
				require.NotContains(t, strings.ReplaceAll(fmt.Sprintf("%s", values), "-", ""), secret, "only hashes are stored")
			}
		}
		require.NoError(t, rows.Err())
	})
}

// Behind https the cookie is sent over nothing else.
func TestRiderSession_cookieIsSecureBehindHTTPS(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.BaseURL = "https://despacho.example" }})
	s.BaseURL = "http://" + s.Config.HTTPAddr
	tenant := s.NewTenant(t)
	require.Contains(t, activate(t, s, tenant.RiderLink(t, tenant.Riders[0].ID), apptest.PIN).Header.Get("Set-Cookie"), "; Secure")
}

// A link is good for a day, until another one is made for the rider, or until the access is taken
// away.
func TestRiderSession_linksThatAreNoGood(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		tenant := s.NewTenant(t)
		rider, service := tenant.Riders[0].ID, riders.New(riders.Options{DB: s.App.DB, Clock: clk})
		late := tenant.RiderLink(t, rider)
		clk.Advance(24 * time.Hour)
		requireRefused(t, activate(t, s, late, apptest.PIN), http.StatusUnauthorized, "link_invalid")
		replaced := tenant.RiderLink(t, rider)
		last := tenant.RiderLink(t, rider)
		requireRefused(t, activate(t, s, replaced, apptest.PIN), http.StatusUnauthorized, "link_invalid")
		require.NoError(t, service.Revoke(t.Context(), &tenant.Operator, rider))
		requireRefused(t, activate(t, s, last, apptest.PIN), http.StatusUnauthorized, "link_invalid")
		inTime := tenant.RiderLink(t, rider)
		clk.Advance(24*time.Hour - time.Second)
		require.Equal(t, http.StatusOK, activate(t, s, inTime, apptest.PIN).Status)
		require.Equal(t, 1, len(apptest.RowsOf[models.RiderDevice](t, tenant)), "links leave no rows behind")
	})
}

// A link that many phones open at once makes one of them the rider's.
func TestRiderSession_manyPhonesWithOneLink(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.RiderLink(t, tenant.Riders[0].ID)
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusUnauthorized: 7}, inParallel(t, 8, func(int) apptest.Request {
			return apptest.Request{Method: http.MethodPost, Path: "/rider/api/activate", Body: fields{"token": token, "pin": apptest.PIN}}
		}, s))
	})
}

// The PIN is asked for again after twelve hours, and when the rider says so. A right one starts the
// count of wrong ones anew.
func TestRiderSession_pin(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		mine := newPhone(t, s, s.NewTenant(t))
		clk.Advance(12*time.Hour - time.Second)
		require.Equal(t, http.StatusOK, mine.session().Status)
		clk.Advance(time.Second)
		requireRefused(t, mine.session(), http.StatusUnauthorized, "pin_required")
		for _, left := range []string{"4 intentos", "3 intentos", "2 intentos", "1 intento"} {
			wrong := mine.unlock("1111")
			requireRefused(t, wrong, http.StatusUnauthorized, "pin_wrong")
			require.Contains(t, wrong.Error, left)
			requireRefused(t, mine.session(), http.StatusUnauthorized, "pin_required")
		}
		requireRefused(t, mine.unlock("11"), http.StatusBadRequest, "invalid_fields", "pin")
		unlocked := mine.unlock(apptest.PIN)
		require.Equal(t, http.StatusOK, unlocked.Status, "what is no PIN is no wrong one: %s", unlocked.Text)
		require.Equal(t, apptest.FrozenAt.Add(24*time.Hour).Format(time.RFC3339), unlocked.String("unlocked_until"))
		require.Equal(t, http.StatusOK, mine.session().Status)

		for range 2 { // also a phone that is locked may be locked
			require.Equal(t, http.StatusOK, mine.send(http.MethodDelete, "/session", nil).Status)
			requireRefused(t, mine.session(), http.StatusUnauthorized, "pin_required")
		}
		require.Contains(t, mine.unlock("1111").Error, "4 intentos")
	})
}

// The fifth wrong PIN in a row ends the phone's access, whether they come one after the other or at
// once. The right one is too late then.
func TestRiderSession_wrongPINs(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant, _ := adminDesk(t, s)
		mine := newPhone(t, s, tenant)
		for range 4 {
			requireRefused(t, mine.unlock("1111"), http.StatusUnauthorized, "pin_wrong")
		}
		requireRefused(t, mine.unlock("1111"), http.StatusUnauthorized, "device_revoked")
		requireRefused(t, mine.unlock(apptest.PIN), http.StatusUnauthorized, "device_revoked")
		requireRefused(t, mine.session(), http.StatusUnauthorized, "device_revoked")
		require.Equal(t, []string{"session.created", "rider_device.linked", "rider_device.activated", "rider_device.locked"}, actions(operator.auditLog("")))

		other := newPhone(t, s, tenant)
		codes := map[string]int{}
		for _, answer := range allAtOnce(t, 9, func(int) (*apptest.Answer, error) {
			return s.Try(apptest.Request{Method: http.MethodPost, Path: "/rider/api/session", Phone: other.cookie, Body: fields{"pin": "1111"}})
		}) {
			require.Equal(t, http.StatusUnauthorized, answer.Status, answer.Text)
			codes[answer.Code]++
		}
		require.Equal(t, map[string]int{"pin_wrong": 4, "device_revoked": 5}, codes)
		requireRefused(t, other.unlock(apptest.PIN), http.StatusUnauthorized, "device_revoked")
	})
}

// Whatever takes the access away does so from the next request on: the operator's people, another
// phone of the rider, the end of the rider's work. Only another link gives it back.
func TestRiderSession_accessTakenAway(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for name, take := range map[string]func(d desk, tenant *apptest.Tenant, rider string){
			"revoked": func(d desk, _ *apptest.Tenant, rider string) {
				require.Equal(t, 200, d.delete("/riders/"+rider+"/device").Status)
			},
			"replaced":    func(_ desk, tenant *apptest.Tenant, _ string) { newPhone(t, s, tenant) },
			"deactivated": func(d desk, _ *apptest.Tenant, rider string) { d.change("/riders/"+rider, fields{"active": false}) },
			"active again": func(d desk, _ *apptest.Tenant, rider string) {
				d.change("/riders/"+rider, fields{"active": false})
				d.change("/riders/"+rider, fields{"active": true})
			},
		} {
			tenant := s.NewTenant(t)
			operator, mine := desk{t, s, tenant.SignIn(t, nil)}, newPhone(t, s, tenant)
			colleague := phone{t, s, tenant.ActivatePhone(t, tenant.Riders[1].ID)}
			require.Equal(t, http.StatusOK, mine.session().Status)
			take(operator, tenant, tenant.Riders[0].ID.String())
			requireRefused(t, mine.session(), http.StatusUnauthorized, "device_revoked")
			requireRefused(t, mine.unlock(apptest.PIN), http.StatusUnauthorized, "device_revoked")
			requireRefused(t, mine.send(http.MethodDelete, "/session", nil), http.StatusUnauthorized, "device_revoked")
			require.Equal(t, http.StatusOK, colleague.session().Status, name)
		}
	})
}

// The phone of a rider who was deactivated behind the service's back is refused, too.
func TestRiderSession_inactiveRider(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		rider, mine := tenant.Riders[0].ID, newPhone(t, s, tenant)
		link := tenant.RiderLink(t, rider)
		require.NoError(t, s.App.DB.Query(t.Context()).Model(&models.Rider{}).Where("id = ?", rider).Update("active", false).Error)
		requireRefused(t, mine.session(), http.StatusUnauthorized, "device_revoked")
		requireRefused(t, activate(t, s, link, apptest.PIN), http.StatusUnauthorized, "link_invalid")
		requireRefused(t, desk{t, s, tenant.SignIn(t, nil)}.post("/riders/"+rider.String()+"/link", nil), http.StatusConflict, "rider_inactive")
	})
}

// A suspended operator's riders come in and read; nothing that they do is taken. Its people give no
// links, but take access away.
func TestRiderSession_suspendedOperator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator, mine, link := desk{t, s, tenant.SignIn(t, nil)}, newPhone(t, s, tenant), tenant.RiderLink(t, tenant.Riders[1].ID)
		tenant.Suspend(t)
		require.Equal(t, http.StatusOK, mine.session().Status)
		require.Equal(t, http.StatusOK, mine.send(http.MethodDelete, "/session", nil).Status)
		require.Equal(t, http.StatusOK, mine.unlock(apptest.PIN).Status)
		require.Equal(t, http.StatusOK, activate(t, s, link, apptest.PIN).Status)
		service := riders.New(riders.Options{DB: s.App.DB, Clock: s.App.Clock()})
		who, err := service.Authorize(t.Context(), mine.cookie)
		require.NoError(t, err)
		require.NoError(t, service.Admit(who, riders.Needs{PIN: true}))
		require.ErrorIs(t, service.Admit(who, riders.Needs{PIN: true, Writes: true}), riders.ErrSuspended)
		require.ErrorIs(t, service.Reauthorize(t.Context(), mine.cookie, riders.Needs{Writes: true}), riders.ErrSuspended)

		path := "/riders/" + tenant.Riders[0].ID.String()
		requireRefused(t, operator.post(path+"/link", nil), http.StatusForbidden, "operator_suspended")
		require.Equal(t, http.StatusOK, operator.delete(path+"/device").Status)
		requireRefused(t, mine.session(), http.StatusUnauthorized, "device_revoked")
	})
}

// Links are the operator's: its stores make none, and other operators neither make nor take away
// anything. A rider of test orders is nobody's.
func TestRiderSession_whoGivesLinks(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), desk{t, s, s.NewTenant(t).SignIn(t, nil)}
		operator, seller, mine := desk{t, s, tenant.SignIn(t, nil)}, desk{t, s, tenant.SignIn(t, &tenant.StoreA)}, newPhone(t, s, tenant)
		invented := models.Rider{ID: uuid.New(), OperatorID: tenant.Operator.ID, Test: true, Name: "De prueba", Phone: "+51987000000", Active: true, CreatedAt: tenant.Operator.CreatedAt}
		require.NoError(t, s.App.DB.Insert(t.Context(), &invented))
		path := "/riders/" + tenant.Riders[0].ID.String()
		requireRefused(t, seller.post(path+"/link", nil), http.StatusForbidden, "role_not_allowed")
		requireRefused(t, seller.delete(path+"/device"), http.StatusForbidden, "role_not_allowed")
		for _, unknown := range []*apptest.Answer{
			stranger.post(path+"/link", nil), stranger.delete(path + "/device"), operator.post("/riders/x/link", nil), operator.delete("/riders/x/device"),
			operator.post("/riders/"+uuid.NewString()+"/link", nil), operator.delete("/riders/" + uuid.NewString() + "/device"),
			operator.post("/riders/"+invented.ID.String()+"/link", nil), operator.delete("/riders/" + invented.ID.String() + "/device"),
		} {
			requireRefused(t, unknown, http.StatusNotFound, "rider_not_found")
		}
		require.Equal(t, http.StatusOK, mine.session().Status)

		shown := func() map[string]any { return operator.find("/riders", tenant.Riders[0].ID.String()) }
		require.NotNil(t, shown()["device"].(map[string]any)["last_seen_at"])
		require.Nil(t, shown()["link_expires_at"])
		require.Equal(t, http.StatusCreated, operator.post(path+"/link", nil).Status)
		require.NotNil(t, shown()["device"], "the phone works until the link is used")
		require.NotNil(t, shown()["link_expires_at"])
		require.Equal(t, http.StatusOK, operator.delete(path+"/device").Status)
		require.Nil(t, shown()["device"])
		require.Nil(t, shown()["link_expires_at"])
		require.Equal(t, http.StatusOK, operator.delete(path+"/device").Status, "nothing is left, and that is as it should be")
	})
}

// Another site's page can neither make a phone somebody's nor use one.
func TestRiderSession_fromAnotherSite(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		mine, link := newPhone(t, s, tenant), tenant.RiderLink(t, tenant.Riders[0].ID)
		for _, headers := range []map[string]string{
			{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://malo.example"}, {"Origin": "null"},
		} {
			from := func(method, path string, body any) *apptest.Answer {
				return s.Do(t, apptest.Request{Method: method, Path: "/rider/api" + path, Phone: mine.cookie, Body: body, Header: maps.Clone(headers)})
			}
			refused := from(http.MethodPost, "/activate", fields{"token": link, "pin": apptest.PIN})
			requireRefused(t, refused, http.StatusForbidden, "cross_site_request")
			require.Empty(t, refused.Header.Get("Set-Cookie"))
			requireRefused(t, from(http.MethodPost, "/session", fields{"pin": "1111"}), http.StatusForbidden, "cross_site_request")
			requireRefused(t, from(http.MethodDelete, "/session", nil), http.StatusForbidden, "cross_site_request")
		}
		require.Equal(t, http.StatusOK, mine.session().Status)
		require.Zero(t, dbtest.Row[models.RiderDevice](t, s.App.DB, "rider_id = ? AND activated_at IS NOT NULL", tenant.Riders[0].ID).PINFailures)
	})
}

// A phone makes 240 requests a minute, and is told what is left; other phones have their own.
func TestRiderSession_requestsPerMinute(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		mine, other := newPhone(t, s, tenant), phone{t, s, tenant.ActivatePhone(t, tenant.Riders[1].ID)}
		for left := range 240 {
			answer := mine.session()
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			require.Equal(t, fmt.Sprintf(`"minute";r=%d;t=30`, 239-left), answer.Header.Get("RateLimit"))
			require.Equal(t, `"minute";q=240;w=60`, answer.Header.Get("RateLimit-Policy"))
		}
		for _, refused := range []*apptest.Answer{mine.session(), mine.unlock(apptest.PIN), mine.send(http.MethodDelete, "/session", nil)} {
			requireRefused(t, refused, http.StatusTooManyRequests, "rate_limited")
			require.Equal(t, "30", refused.Header.Get("Retry-After"))
			require.Equal(t, `"minute";r=0;t=30`, refused.Header.Get("RateLimit"))
		}
		require.Equal(t, http.StatusOK, other.session().Status)
	})
}

// Links and PINs count like sign-ins from one address; one phone enters ten PINs a minute, from
// however many.
func TestRiderSession_attemptsPerMinute(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true, Clock: clock.NewManual(apptest.FrozenAt), Configure: func(c *config.Config) {
		c.Limits, c.TrustedProxies = config.DefaultLimits(), []string{"127.0.0.1"}
	}}, func(t *testing.T, s *apptest.Service) {
		mine, count := newPhone(t, s, s.NewTenant(t)), map[int]int{}
		send := func(path, address string, body fields) *apptest.Answer {
			return s.Do(t, apptest.Request{
				Method: http.MethodPost, Path: "/rider/api" + path, Phone: mine.cookie, Body: body, Header: map[string]string{"X-Forwarded-For": address},
			})
		}
		for range 40 {
			count[send("/activate", "198.51.100.7", fields{"token": uuid.NewString(), "pin": apptest.PIN}).Status]++
		}
		require.Equal(t, map[int]int{http.StatusUnauthorized: 30, http.StatusTooManyRequests: 10}, count)
		limited := send("/session", "198.51.100.7", fields{"pin": apptest.PIN})
		requireRefused(t, limited, http.StatusTooManyRequests, "too_many_requests")
		require.Equal(t, "30", limited.Header.Get("Retry-After"))
		for i := range 9 { // the one of the activation was the first
			require.Equal(t, http.StatusOK, send("/session", fmt.Sprintf("203.0.113.%d", i), fields{"pin": apptest.PIN}).Status)
		}
		requireRefused(t, send("/session", "203.0.113.99", fields{"pin": apptest.PIN}), http.StatusTooManyRequests, "too_many_requests")
		require.Equal(t, http.StatusOK, mine.session().Status)
	})
}

// What happens to a rider's access is in the audit log, about the rider and without anything that
// opens it.
func TestRiderSession_isAudited(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, admin := adminDesk(t, s)
		rider := tenant.Riders[0]
		path := "/riders/" + rider.ID.String()
		var secrets []string
		for range 2 {
			token := linkToken(t, s, d.post(path+"/link", nil))
			secrets = append(secrets, token, apptest.PhoneOf(t, activate(t, s, token, apptest.PIN)), apptest.PIN)
		}
		require.Equal(t, http.StatusOK, d.delete(path+"/device").Status)
		require.Equal(t, http.StatusOK, d.delete(path+"/device").Status) // nothing ends, nothing is recorded
		linkToken(t, s, d.post(path+"/link", nil))
		d.change(path, fields{"active": false})
		entries := d.auditLog("")
		require.Equal(t, []string{
			"session.created", "rider_device.linked", "rider_device.activated", "rider_device.linked", "rider_device.activated",
			"rider_device.revoked", "rider_device.linked", "rider_device.revoked", "rider.changed",
		}, actions(entries))
		replaced := 0
		for _, entry := range entries[:len(entries)-1] {
			require.Equal(t, map[string]any{"id": rider.ID.String(), "name": rider.Name}, entry["subject"])
			require.Equal(t, "127.0.0.1", entry["address"])
			if entry["action"] == "rider_device.activated" {
				require.Nil(t, entry["user"], "a rider is no user")
			} else {
				require.Equal(t, map[string]any{"id": admin.ID.String(), "name": admin.Name}, entry["user"])
			}
			if entry["detail"] == "replaced" {
				replaced++
			}
		}
		require.Equal(t, 1, replaced)
		for _, secret := range secrets {
			require.NotContains(t, fmt.Sprint(entries), secret)
		}
	})
}

// A phone was seen at most a minute ago, as far as is stored. On PostgreSQL one statement finds the
// phone, counts its request and notes that.
func TestRiderSession_lastSeen(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		tenant := s.NewTenant(t)
		mine := newPhone(t, s, tenant)
		seen := func() time.Time {
			return *dbtest.Row[models.RiderDevice](t, s.App.DB, "rider_id = ?", tenant.Riders[0].ID).LastSeenAt
		}
		asked := func() int64 {
			id := uuid.NewString()
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/rider/api/session", Phone: mine.cookie, Header: map[string]string{"X-Request-Id": id}})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			return s.Statements(id)
		}
		first, other := int64(1), int64(1)
		if s.App.DB.Dialect() == db.SQLite {
			first, other = 3, 2
		}
		require.Equal(t, first, asked())
		clk.Advance(29 * time.Second)
		require.Equal(t, other, asked())
		require.True(t, seen().Equal(apptest.FrozenAt), "in the same minute nothing is written")
		clk.Advance(time.Second)
		require.Equal(t, first, asked())
		require.True(t, seen().Equal(clk.Now()))
	})
}
