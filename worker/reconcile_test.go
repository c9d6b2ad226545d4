package worker_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// An order created while Temporal was unavailable is started later and auto-cancelled at its
// original time.
func TestReconcile_startsWhatHasNoWorkflow(t *testing.T) {
	t.Parallel()
	usual := boot(t, "", apptest.Options{})
	for name, wait := range map[string]time.Duration{"due in seconds": 62 * time.Second, "due already": 30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usual.secondOperator(t)
			receiver := apptest.NewReceiver(t, nil)
			s.Register(t, s.Key, receiver)
			detached := s.withoutTemporal(t, time.Minute, withAutoCancelAfter(wait))
			id := detached.CreateOrder(t, s.Key)
			s.reconcileUntilStarted(t, id)
			order := s.waitForStatus(t, id, "cancelled")
			due := timeOf(t, order, "created_at").Add(wait)
			cancelled := timeOf(t, order, "cancelled_at")
			require.False(t, cancelled.Before(due), "%s is before %s", cancelled, due)
			_, runID := s.waitForOrderEnd(t, id)
			timers := timersOf(s.historyOf(t, workflowOf(id), runID))
			if wait < time.Minute {
				require.Empty(t, timers, "there is nothing left to wait for")
			}
			for _, timer := range timers { // on a busy machine there may be nothing left to wait for either
				timer.requireSetFor(t, due)
			}
			var events []string
			for _, event := range receiver.WaitFor(t, 2) {
				events = append(events, event.Event)
			}
			require.Equal(t, []string{"order.created", "order.cancelled"}, events, "receivers hear of the creation, too")
		})
	}
}

// However late a workflow starts, the auto-cancel time counts from the creation.
func TestReconcile_aLateStartWaitsLess(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	const wait = time.Hour
	detached := s.withoutTemporal(t, time.Minute, withAutoCancelAfter(wait))
	id := detached.CreateOrder(t, s.Key)
	s.reconcileUntilStarted(t, id)
	s.waitForIdle(t, id)
	timers := timersOf(s.historyOf(t, workflowOf(id), ""))
	require.Len(t, timers, 1)
	timers[0].requireSetFor(t, timeOf(t, s.order(t, id), "created_at").Add(wait))
	require.Less(t, timers[0].wait, wait-time.Minute)
	require.Equal(t, http.StatusOK, s.move(t, id, "cancel", nil).Status)
	s.waitForOrderEnd(t, id)
}

// timer is a timer that a run started, in a workflow task between began and ended.
type timer struct {
	began, ended time.Time
	wait         time.Duration
}

func timersOf(run *history.History) (timers []timer) {
	for _, event := range run.Events {
		if started := event.GetTimerStartedEventAttributes(); started != nil {
			ended := run.Events[started.WorkflowTaskCompletedEventId-1]
			began := run.Events[ended.GetWorkflowTaskCompletedEventAttributes().StartedEventId-1]
			timers = append(timers, timer{began.EventTime.AsTime(), ended.EventTime.AsTime(), started.StartToFireTimeout.AsDuration()})
		}
	}
	return timers
}

// requireSetFor checks, by the times in the history, that the timer fires at due. One second is
// allowed for clock adjustments: counting from the start instead of the creation would be a minute
// off.
func (set timer) requireSetFor(t *testing.T, due time.Time) {
	t.Helper()
	require.WithinRange(t, due, set.began.Add(set.wait-time.Second), set.ended.Add(set.wait+time.Second), "it waits %s", set.wait)
}

func timeOf(t *testing.T, order *apptest.Answer, member string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, order.String(member))
	require.NoError(t, err)
	return at
}

// Moves work before the workflow has started, including the final one.
func TestReconcile_movesBeforeTheStart(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	detached := s.withoutTemporal(t, 0)
	first, second := detached.CreateOrder(t, s.KeyA), detached.CreateOrder(t, s.KeyA)

	require.Equal(t, "received", s.receive(t, first).String("status"))
	answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + second + "/cancel", Key: s.KeyA})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	s.waitForOrderEnd(t, second)
	require.Equal(t, []string{"created", "cancelled"}, s.moveTypes(t, second))
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.describe(t, workflowOf(first)).WorkflowExecutionInfo.Status)
	s.waitForStartConfirmed(t, first)
	s.waitForStartConfirmed(t, second)
}

// Expired rows are deleted, and no others.
func TestReconcile_clearsWhatHasExpired(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		var keyID, userID string
		require.NoError(t, s.App.DB.SQL().QueryRow("SELECT id FROM api_keys LIMIT 1").Scan(&keyID))
		require.NoError(t, s.App.DB.SQL().QueryRow("SELECT id FROM users LIMIT 1").Scan(&userID))
		for name, expires := range map[string]time.Time{"over": now.Add(-time.Minute), "in use": now.Add(time.Hour)} {
			s.insert(t, &models.IdempotencyRecord{
				ScopeID: uuid.MustParse(keyID), Key: name, BodyHash: []byte("hash"), LeaseToken: uuid.New(), LeaseUntil: now, CreatedAt: now, ExpiresAt: expires,
			})
			s.insert(t, &models.Session{ID: uuid.New(), UserID: uuid.MustParse(userID), TokenHash: []byte(name), CreatedAt: now, ExpiresAt: expires})
			s.insert(t, &models.RateWindow{Subject: name, Minute: db.Minute(expires) - 5, Used: 1})
		}
		s.reconcile(t)
		for table, column := range map[string]string{
			"idempotency_records": "key", "sessions": "token_hash", "rate_windows": "subject",
		} {
			poll.Until(t, func() error {
				var left int
				err := s.App.DB.SQL().QueryRow(fmt.Sprintf("SELECT count(*) FROM %s WHERE %s = CAST('over' AS %s)", table, column, s.typeOf(column))).Scan(&left)
				if err == nil && left > 0 {
					err = fmt.Errorf("%s has %d that are over", table, left)
				}
				return err
			})
			var kept int
			require.NoError(t, s.App.DB.SQL().QueryRow(fmt.Sprintf("SELECT count(*) FROM %s WHERE %s = CAST('in use' AS %s)", table, column, s.typeOf(column))).Scan(&kept))
			require.Equal(t, 1, kept, table)
		}
		require.Equal(t, "registered", s.order(t, s.CreateOrder(t, s.Key)).String("status"), "the staff and the keys are as they were")
	})
}

func (s *service) insert(t *testing.T, row any) {
	t.Helper()
	require.NoError(t, s.App.DB.Insert(t.Context(), row))
}

// typeOf is the column type that a string has to be cast to.
func (s *service) typeOf(column string) string {
	switch {
	case column != "token_hash":
		return "text"
	case s.App.DB.Dialect() == db.Postgres:
		return "bytea"
	}
	return "blob"
}
