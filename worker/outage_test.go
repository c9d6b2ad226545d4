package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// outage makes one database unavailable without stopping its server.
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

// readOnly makes every new connection refuse to write, or no longer.
func (o *outage) readOnly(on bool) {
	o.t.Helper()
	_, err := o.admin.Exec(context.Background(), fmt.Sprintf("ALTER DATABASE %s SET default_transaction_read_only = %t", o.name, on))
	require.NoError(o.t, err)
}

func (o *outage) end() { o.allow(true) }

// holdOrders locks the orders table until the outage begins, and returns a check that a statement
// waits for the lock.
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

// The database fails during a move and comes back: the caller gets an unconfirmed outcome, the move
// is written after the outage, and a read shows it.
func TestOutage_databaseDownAndBack(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	s := boot(t, databaseURL, apptest.Options{})
	hasty := s.secondProcess(t, apptest.Options{Configure: shortMoveTimeout})
	o := newOutage(t, databaseURL)
	id := s.CreateOrder(t, s.Key)
	s.waitForIdle(t, id)
	s.waitForStartConfirmed(t, id) // which writes to the order, too

	waiting := o.holdOrders(databaseURL)
	receive := []apptest.Request{moveRequest(s, id, "receive", nil)}
	answers := allAtOnce(hasty, receive)
	poll.Until(t, func() error {
		select {
		case answer := <-answers: // a slow machine gave up before the move came to the database
			requireUnconfirmed(t, answer)
			answers = allAtOnce(hasty, receive)
		default:
		}
		return waiting()
	})
	o.begin()
	during := s.Do(t, receive[0])
	require.GreaterOrEqual(t, during.Status, http.StatusInternalServerError, during.Text)
	requireUnconfirmed(t, <-answers)

	o.end()
	order := s.waitForStatus(t, id, "received")
	require.NotNil(t, order.Data["received_at"])
	require.Equal(t, []string{"created", "received"}, s.moveTypes(t, id), "once, however often it was tried")
	s.assign(t, id, 0)
	s.deliver(t, id)
	s.waitForOrderEnd(t, id)
}

// An auto-cancel during an outage is written after it.
func TestOutage_autoCancelDuringAnOutage(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	s := boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: withAutoCancelAfter(time.Second)})
	o := newOutage(t, databaseURL)
	id := s.CreateOrder(t, s.Key)
	s.waitForStartConfirmed(t, id) // which writes to the order, too
	waiting := o.holdOrders(databaseURL)
	s.StartWorker(t)
	poll.Until(t, waiting)
	o.begin()
	o.end()
	order := s.waitForStatus(t, id, "cancelled")
	require.Equal(t, map[string]any{"by": "auto", "reason": nil, "note": nil}, order.Data["cancellation"])
	s.waitForOrderEnd(t, id)
}

// attemptResult is a response or an error.
type attemptResult struct {
	*apptest.Answer
	err error
}

// allAtOnce sends requests concurrently to one process; the results are in any order.
func allAtOnce(process *apptest.Service, requests []apptest.Request) <-chan attemptResult {
	answers := make(chan attemptResult, len(requests))
	for _, request := range requests {
		go func() {
			answer, err := process.Try(request)
			answers <- attemptResult{answer, err}
		}()
	}
	return answers
}

func moveRequest(s *service, orderID, move string, body any) apptest.Request {
	return apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/" + move, Token: s.staff, Body: body}
}

// requireUnconfirmed checks that the caller was told to check the status before retrying.
func requireUnconfirmed(t *testing.T, answer attemptResult) {
	t.Helper()
	require.NoError(t, answer.err)
	require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
	require.Equal(t, "5", answer.Header.Get("Retry-After"))
	require.Equal(t, "try_again", answer.Code)
}

// Connections to a database that has gone without closing them say nothing any more. A worker
// publishes events and sends what is queued over new ones, as soon as there is a database again.
func TestOutage_silentConnections(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	line := newTCPProxy(t, address.Host)
	address.Host = line.Addr().String()
	s := boot(t, address.String(), apptest.Options{Configure: func(c *config.Config) { c.DatabaseMaxConns = 2 }})
	direct := apptest.Boot(t, databaseURL, apptest.Options{TaskQueue: s.Config.TaskQueue, NoWorker: true})
	var queued *apptest.Receiver
	for range 3 { // of which the order's workflow calls two
		queued = apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, queued)
	}
	line.silence()
	poll.Until(t, func() error { // the worker has noticed it
		if inUse := s.App.DB.SQL().Stats().InUse; inUse < s.Config.DatabaseMaxConns {
			return fmt.Errorf("%d connections wait for the database", inUse)
		}
		return nil
	})
	created := direct.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: s.Key, Body: apptest.Order()})
	require.Equal(t, http.StatusCreated, created.Status, created.Text)
	queued.WaitFor(t, 1)
	poll.Until(t, func() error {
		if len(dbtest.Rows[models.FeedEvent](t, direct.App.DB, "operator_id = ? AND position IS NOT NULL", s.Operator.ID)) == 0 {
			return errors.New("the event is not published")
		}
		return nil
	})
}
