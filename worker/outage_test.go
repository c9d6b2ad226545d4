package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"despacho/internal/apptest"
	"despacho/internal/testenv"
)

// answerTime bounds every answer to a move, whatever is down.
const answerTime = 5 * time.Second

// outage takes one database away from everybody who uses it, without touching the server it is on.
type outage struct {
	t     *testing.T
	admin *pgx.Conn
	name  string
}

func newOutage(t *testing.T, databaseURL string) *outage {
	t.Helper()
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	name := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	admin, err := pgx.Connect(t.Context(), address.String())
	require.NoError(t, err)
	o := &outage{t: t, admin: admin, name: name}
	t.Cleanup(func() {
		o.allow(true)
		require.NoError(t, admin.Close(context.Background()))
	})
	return o
}

func (o *outage) allow(connections bool) {
	o.t.Helper()
	_, err := o.admin.Exec(context.Background(), fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %t", o.name, connections))
	require.NoError(o.t, err)
}

func (o *outage) begin() {
	o.t.Helper()
	o.allow(false)
	_, err := o.admin.Exec(context.Background(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", o.name)
	require.NoError(o.t, err)
}

func (o *outage) end() { o.allow(true) }

// holdOrders keeps everybody from writing to orders until the outage comes, and returns a check that somebody waits to.
func (o *outage) holdOrders(databaseURL string) (waiting func() error) {
	o.t.Helper()
	holder, err := pgx.Connect(o.t.Context(), databaseURL)
	require.NoError(o.t, err)
	o.t.Cleanup(func() { _ = holder.Close(context.Background()) })
	_, err = holder.Exec(o.t.Context(), "BEGIN; SELECT id FROM orders FOR UPDATE")
	require.NoError(o.t, err)
	return func() error {
		var count int
		err := o.admin.QueryRow(o.t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", o.name).Scan(&count)
		if err == nil && count == 0 {
			err = errors.New("nobody waits for the order yet")
		}
		return err
	}
}

// The database goes away in the middle of a move and comes back: the caller is told in time that the outcome is open, the move lands when the database is
// back, and reading the order tells so.
func TestOutage_databaseDownAndBack(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	s := boot(t, databaseURL, apptest.Options{})
	o := newOutage(t, databaseURL)
	var id string
	testenv.Within(t, answerTime, func() time.Duration {
		id = s.CreateOrder(t, s.Key)
		s.waitForQuiet(t, id)
		s.waitForStartNoted(t, id) // which writes to the order, too

		waiting := o.holdOrders(databaseURL)
		before := s.allAtOnce([]apptest.Request{moveRequest(s, id, "receive", nil)})
		testenv.Until(t, waiting)
		o.begin()

		during := s.timed(moveRequest(s, id, "receive", nil))
		require.NoError(t, during.err)
		require.GreaterOrEqual(t, during.Status, http.StatusInternalServerError, during.Text)
		slowest := max(during.took, requireOpen(t, before()[0]))

		o.end()
		order := s.waitForStatus(t, id, "received")
		require.NotNil(t, order.Data["received_at"])
		require.Equal(t, []string{"created", "received"}, s.story(t, id), "once, however often it was tried")
		return slowest
	})
	s.assign(t, id, 0)
	s.deliver(t, id)
	s.ended(t, id)
}

// The timer does not wait for the database, and its cancel is not lost for it.
func TestOutage_autoCancelDuringAnOutage(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	s := boot(t, databaseURL, apptest.Options{Configure: impatient(1500 * time.Millisecond)})
	o := newOutage(t, databaseURL)
	id := s.CreateOrder(t, s.Key)
	o.begin()
	testenv.Until(t, func() error {
		for _, event := range s.historyOf(t, workflowOf(id), "").Events {
			if event.EventType == enums.EVENT_TYPE_TIMER_FIRED {
				return nil
			}
		}
		return errors.New("the timer has not fired")
	})
	o.end()
	order := s.waitForStatus(t, id, "cancelled")
	require.Equal(t, map[string]any{"by": "auto", "reason": nil, "note": nil}, order.Data["cancellation"])
	s.ended(t, id)
}

// timed is an answer and how long it took.
type timed struct {
	*apptest.Answer
	took time.Duration
	err  error
}

func (s *service) timed(request apptest.Request) timed {
	began := time.Now()
	answer, err := s.Try(request)
	return timed{answer, time.Since(began), err}
}

// allAtOnce sends requests and returns what waits for their answers.
func (s *service) allAtOnce(requests []apptest.Request) (wait func() []timed) {
	answers := make([]timed, len(requests))
	var sending sync.WaitGroup
	for i, request := range requests {
		sending.Go(func() { answers[i] = s.timed(request) })
	}
	return func() []timed {
		sending.Wait()
		return answers
	}
}

func moveRequest(s *service, orderID, move string, body any) apptest.Request {
	return apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/" + move, Token: s.staff, Body: body}
}

// requireOpen checks that a caller was told to look before trying again, and returns how long that took.
func requireOpen(t *testing.T, answer timed) time.Duration {
	t.Helper()
	require.NoError(t, answer.err)
	require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
	require.Equal(t, "5", answer.Header.Get("Retry-After"))
	require.Equal(t, "try_again", answer.Code)
	return answer.took
}
