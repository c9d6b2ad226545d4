package attacks

import (
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// sharedHost is one host of many receivers, as an automation platform is: those under /hangs never
// answer.
type sharedHost struct {
	*httptest.Server
	// released is closed to let the hanging ones answer.
	released chan struct{}
	// hanging and ended count the exchanges under /hangs, told the events elsewhere.
	hanging, ended, told atomic.Int32
}

func newSharedHost(t *testing.T) *sharedHost {
	t.Helper()
	h := &sharedHost{released: make(chan struct{})}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path != "/hangs" {
			h.told.Add(1)
			return
		}
		h.hanging.Add(1)
		defer h.ended.Add(1)
		select {
		case <-h.released:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// However many webhooks of one operator hang, the events of another operator arrive, at the same
// host and while the hanging exchanges are still under way; and whatever waited is sent once in the
// end.
func TestNeighbours_hangingWebhooksOfAnotherOperator(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{}, func(t *testing.T, s *apptest.Service) {
		const webhooks, orders, atOnce = 20, 3, 32
		host := newSharedHost(t)
		noisy, quiet := s.NewTenant(t), s.NewTenant(t)
		register := func(tenant *apptest.Tenant, path string) {
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks", Key: tenant.Key, Body: map[string]any{
				"url": host.URL + path, "events": []models.Event{models.EventCreated},
			}})
			require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
		}
		for range webhooks {
			register(noisy, "/hangs")
		}
		register(quiet, "/answers")
		for range orders {
			s.CreateOrder(t, noisy.Key)
		}
		poll.Until(t, func() error {
			if hanging := host.hanging.Load() - host.ended.Load(); hanging < atOnce {
				return fmt.Errorf("only %d exchanges hang", hanging)
			}
			return nil
		})

		told := 0
		poll.Until(t, func() error {
			ended := host.ended.Load()
			for range orders {
				s.CreateOrder(t, quiet.Key)
				told++
			}
			poll.Until(t, func() error {
				if arrived := host.told.Load(); arrived != int32(told) {
					return fmt.Errorf("%d events of %d arrived", arrived, told)
				}
				return nil
			})
			if host.ended.Load() > ended {
				return errors.New("an exchange that hung ended before the others were told") // possible on a slow machine; the test retries
			}
			return nil
		})
		require.LessOrEqual(t, host.hanging.Load()-host.ended.Load(), int32(atOnce), "an operator's bound")

		close(host.released)
		poll.Until(t, func() error {
			if arrived := host.hanging.Load(); arrived != webhooks*orders {
				return fmt.Errorf("%d events of %d arrived", arrived, webhooks*orders)
			}
			return nil
		})
		poll.Until(t, func() error {
			var pending int
			err := s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM deliveries WHERE status = 'pending'").Scan(&pending)
			if err == nil && pending > 0 {
				err = fmt.Errorf("%d deliveries are pending", pending)
			}
			return err
		})
		var attempts int
		require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM delivery_attempts").Scan(&attempts))
		require.Equal(t, webhooks*orders+told, attempts, "each event was sent once")
	})
}

// However many webhooks of one store answer slowly, the events of another store of its operator and
// those of the operator's own webhooks arrive, while the slow exchanges are still under way and
// though none of them fails.
func TestNeighbours_slowWebhooksOfAnotherStore(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{}, func(t *testing.T, s *apptest.Service) {
		const webhooks, orders, atOnce = 20, 3, 8
		host := newSharedHost(t)
		tenant := s.NewTenant(t)
		register := func(key, path string) {
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks", Key: key, Body: map[string]any{
				"url": host.URL + path, "events": []models.Event{models.EventCreated},
			}})
			require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
		}
		for range webhooks {
			register(tenant.KeyA, "/hangs")
		}
		register(tenant.KeyB, "/answers")
		register(tenant.Key, "/answers")
		told := int32(0)
		for range orders {
			s.CreateOrder(t, tenant.KeyA)
			told++ // the operator
		}
		poll.Until(t, func() error {
			if hanging := host.hanging.Load(); hanging < atOnce {
				return fmt.Errorf("only %d exchanges hang", hanging)
			}
			return nil
		})
		poll.Until(t, func() error {
			ended := host.ended.Load()
			for range orders {
				s.CreateOrder(t, tenant.KeyB)
				told += 2 // the store and the operator
			}
			poll.Until(t, func() error {
				if arrived := host.told.Load(); arrived != told {
					return fmt.Errorf("%d events of %d arrived", arrived, told)
				}
				return nil
			})
			if host.ended.Load() > ended {
				return errors.New("a slow exchange ended before the others were told") // possible on a slow machine; the test retries
			}
			return nil
		})
		require.LessOrEqual(t, host.hanging.Load()-host.ended.Load(), int32(atOnce), "a store's bound")
		close(host.released)
		poll.Until(t, func() error {
			if arrived := host.hanging.Load(); arrived != webhooks*orders {
				return fmt.Errorf("%d events of %d arrived", arrived, webhooks*orders)
			}
			return nil
		})
	})
}

// connections is how many the services of these tests have to their database.
const connections = 2

// requireServed checks that somebody else's request gets a connection to the database.
func requireServed(t *testing.T, s *apptest.Service) {
	t.Helper()
	served := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: s.NewTenant(t).Key})
	require.Equal(t, http.StatusOK, served.Status, served.Text)
}

// Requests that wait for a receiver that hangs, for the outcome of a test event or of a
// redelivery, hold no connection to the database: with more of them than connections, others are
// served.
func TestNeighbours_requestsThatWaitForAReceiver(t *testing.T) {
	t.Parallel()
	const waiting = 2 * connections
	s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{Configure: func(c *config.Config) {
		c.DatabaseMaxConns, c.Timeouts.Acquire = connections, time.Second
	}})
	host := newSharedHost(t)
	noisy := s.NewTenant(t)
	answers := make(chan string, waiting)
	for i := range waiting {
		hook := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks", Key: noisy.Key, Body: map[string]any{
			"url": host.URL + "/hangs", "events": []models.Event{models.EventCreated},
		}})
		require.Equal(t, http.StatusCreated, hook.Status, hook.Text)
		go func() {
			answer, err := s.Try(apptest.Request{Method: http.MethodPost, Path: "/v1/webhooks/" + hook.String("id") + "/test", Key: noisy.Key})
			if err != nil {
				answers <- err.Error()
				return
			}
			answers <- answer.Text
		}()
		poll.Until(t, func() error {
			if hanging := int(host.hanging.Load()); hanging <= i && len(answers) == 0 {
				return fmt.Errorf("%d requests wait for the receiver", hanging)
			}
			return nil
		})
		require.Empty(t, answers, "every request waits")
	}
	requireServed(t, s)
	require.Zero(t, host.ended.Load(), "the receiver still hangs")
	close(host.released)
	for range waiting {
		require.Contains(t, <-answers, `"status":"delivered"`)
	}
}

// However many moves of one operator wait for Temporal, others are served: they hold no connection
// to the database.
func TestNeighbours_movesThatTemporalDoesNotAnswer(t *testing.T) {
	t.Parallel()
	const moves = 4 * connections
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a Temporal that accepts connections and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{NoWorker: true, TemporalAddress: silent.Addr().String(), Configure: func(c *config.Config) {
		c.DatabaseMaxConns, c.Timeouts.Acquire, c.Timeouts.Move = connections, time.Second, 5*time.Second
	}})
	noisy := s.NewTenant(t)
	order, token := s.CreateOrder(t, noisy.Key), noisy.SignIn(t, nil)
	codes := make(chan string, moves)
	for i := range moves {
		id := fmt.Sprintf("%s-%d", t.Name(), i)
		go func() {
			answer, err := s.Try(apptest.Request{
				Method: http.MethodPost, Path: "/panel/api/orders/" + order + "/cancel", Token: token, Header: map[string]string{"X-Request-Id": id},
			})
			if err != nil {
				codes <- err.Error()
				return
			}
			codes <- answer.Code
		}()
		poll.Until(t, func() error {
			if s.Statements(id) == 0 && len(codes) == 0 {
				return errors.New("the order was not read yet")
			}
			return nil
		})
	}
	requireServed(t, s)
	for range moves {
		require.Equal(t, "try_again", <-codes)
	}
}

// Requests that wait for a Temporal that does not answer hold no connection to the database: with
// more of them than connections, others are served.
func TestNeighbours_requestsThatTemporalDoesNotAnswer(t *testing.T) {
	t.Parallel()
	const waiting = 2 * connections
	const long = 10 * time.Second
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a Temporal that accepts connections and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	// A request of each kind, and how many statements it has made when it waits.
	for kind, prepare := range map[string]func(t *testing.T, s *apptest.Service, noisy *apptest.Tenant) (apptest.Request, int64){
		"erasure": func(t *testing.T, _ *apptest.Service, noisy *apptest.Tenant) (apptest.Request, int64) {
			ended := noisy.Row(time.Now(), apptest.CancelledBy(models.ByStore, ""))
			noisy.InsertRows(t, []models.Order{ended})
			admin := noisy.SignInAs(t, &models.User{Admin: true})
			return apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + ended.ID.String() + "/erase", Token: admin}, 3
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{NoWorker: true, TemporalAddress: silent.Addr().String(), Configure: func(c *config.Config) {
				c.DatabaseMaxConns, c.Timeouts.Acquire = connections, time.Second
				c.Timeouts.Request, c.Timeouts.Upload, c.Timeouts.Move, c.Timeouts.Outcome = long, long, long, long
			}})
			request, statements := prepare(t, s, s.NewTenant(t))
			answers := make(chan string, waiting)
			for i := range waiting {
				id := fmt.Sprintf("waiting-%d", i)
				asked := request
				asked.Header = map[string]string{"X-Request-Id": id}
				maps.Copy(asked.Header, request.Header)
				go func() {
					answer, err := s.Try(asked)
					if err != nil {
						answers <- err.Error()
						return
					}
					answers <- answer.Code
				}()
				poll.Until(t, func() error {
					if made := s.Statements(id); made < statements && len(answers) == 0 {
						return fmt.Errorf("%d statements", made)
					}
					return nil
				})
			}
			requireServed(t, s)
			for range waiting {
				require.Equal(t, "try_again", <-answers)
			}
		})
	}
}
