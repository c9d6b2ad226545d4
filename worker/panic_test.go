package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"despacho/api"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/orders"
	"despacho/internal/photos"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// defective is a Temporal client that panics for one order.
type defective struct {
	client.Client
	order string
}

func (c defective) UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if options.WorkflowID == workflowOf(c.order) {
		panic("defect")
	}
	return c.Client.UpdateWorkflow(ctx, options)
}

func (c defective) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, arguments ...any) (client.WorkflowRun, error) {
	if options.ID == workflowOf(c.order) {
		panic("defect")
	}
	return c.Client.ExecuteWorkflow(ctx, options, workflow, arguments...)
}

func (c defective) CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	panic("defect")
}

func (s *service) withDefect(t *testing.T, order string) *orders.Service {
	t.Helper()
	service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), defective{s.Temporal, order}, clock.System(), slog.New(slog.DiscardHandler), orders.Options{
		TaskQueue: s.Config.TaskQueue, StartTimeout: poll.Deadline, MoveTimeout: poll.Deadline, MoveDeadline: poll.Deadline, BulkMoveTimeout: poll.Deadline,
	})
	t.Cleanup(service.Close)
	return service
}

// A panic while one of many orders is moved is the outcome of that order; the others are moved.
func TestPanic_inABulkMove(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		broken, sound := uuid.MustParse(s.CreateOrder(t, s.Key)), uuid.MustParse(s.CreateOrder(t, s.Key))
		results, err := s.withDefect(t, broken.String()).CancelMany(t.Context(), orders.Caller{Operator: &s.Operator}, []uuid.UUID{broken, sound}, orders.Cancellation{}, nil)
		require.NoError(t, err)
		require.Equal(t, orders.BulkUnconfirmed, results[0].Outcome)
		require.Equal(t, orders.BulkCancelled, results[1].Outcome)
	})
}

// A panic while the reconcile workflow starts one order's workflow fails its pass and keeps no
// other order from its workflow.
func TestPanic_whileAnOrderIsStarted(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	away := s.withoutTemporal(t, 2*orders.StartGracePeriod)
	broken, sound := away.CreateOrder(t, s.Key), away.CreateOrder(t, s.Key)
	a := s.reconciling(t, s.Temporal)
	a.Orders = s.withDefect(t, broken)
	poll.Until(t, func() error { // the rows may be younger than the grace period
		_, err := a.StartMissing(t.Context(), func() bool { return false })
		require.ErrorContains(t, err, "panic")
		_, err = s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(sound), "")
		return err
	})
	_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(broken), "")
	require.ErrorAs(t, err, new(*serviceerror.NotFound))
}

// eachDefective runs a test on services of its own, with a defect in the first statement that has
// the text.
func eachDefective(t *testing.T, text string, run func(t *testing.T, s *service)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{})
		s.Defect.PanicAfter(text)
		run(t, s)
	})
}

// untilPanicked waits until the defect has panicked.
func (s *service) untilPanicked(t *testing.T) {
	t.Helper()
	poll.Until(t, func() error {
		if !s.Defect.Happened() {
			return errors.New("no such statement was sent")
		}
		return nil
	})
}

// A panic while events are published ends neither the worker nor their publication.
func TestPanic_whileEventsArePublished(t *testing.T) {
	eachDefective(t, "UPDATE feed_events SET position", func(t *testing.T, s *service) {
		s.CreateOrder(t, s.Key)
		s.untilPanicked(t)
		poll.Until(t, func() error {
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events", Key: s.Key})
			if answer.String("cursor") == "" {
				return errors.New("the event is not published")
			}
			return nil
		})
	})
}

// A panic while it is looked for new events ends neither the process nor the waiting: who waits
// gets the event.
func TestPanic_whileEventsAreWaitedFor(t *testing.T) {
	eachDefective(t, "AS sources WHERE id IN", func(t *testing.T, s *service) {
		answered := make(chan *apptest.Answer, 1)
		go func() {
			answer, _ := s.Try(apptest.Request{Method: http.MethodGet, Path: "/v1/events?wait=20&after=latest", Key: s.Key})
			answered <- answer
		}()
		s.untilPanicked(t)
		var id string
		poll.Until(t, func() error { // the test is about who waits: this request may be asked to come again
			created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: s.Key, Body: apptest.Order()})
			if created.Status != http.StatusCreated {
				return errors.New(created.Text)
			}
			id = created.String("id")
			return nil
		})
		answer := <-answered
		require.NotNil(t, answer)
		require.Contains(t, answer.Text, id)
	})
}

// A panic in a look at the queue of webhooks ends neither the worker nor the sending.
func TestPanic_whileTheQueueIsLookedAt(t *testing.T) {
	for name, text := range map[string]string{"webhooks": "WITH RECURSIVE waiting", "deliveries": "deliveries AS waiting"} {
		t.Run(name, func(t *testing.T) {
			eachDefective(t, text, func(t *testing.T, s *service) {
				receiver := apptest.NewReceiver(t, nil)
				id, _ := s.Register(t, s.Key, receiver)
				pause := func(paused bool) {
					changed := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/webhooks/" + id, Key: s.Key, Body: map[string]any{"paused": paused}})
					require.Equal(t, http.StatusOK, changed.Status, changed.Text)
				}
				pause(true)
				s.CreateOrder(t, s.Key)
				pause(false)
				s.untilPanicked(t)
				receiver.WaitFor(t, 1)
			})
		})
	}
}

// A panic while started workflows are marked ends neither the process nor the marking of those that
// follow.
func TestPanic_whileStartsAreConfirmed(t *testing.T) {
	eachDefective(t, `workflow_started_at IS NULL`, func(t *testing.T, s *service) {
		s.CreateOrder(t, s.Key)
		s.untilPanicked(t)
		id := uuid.MustParse(s.CreateOrder(t, s.Key))
		poll.Until(t, func() error {
			view, err := s.App.DB.OrderViewByID(t.Context(), id)
			if err == nil && view.WorkflowStartedAt == nil {
				err = errors.New("the order's workflow is not confirmed")
			}
			return err
		})
	})
}

// defectiveClock panics.
type defectiveClock struct{}

func (defectiveClock) Now() time.Time { panic("defect") }

// A panic in one sweep of the photos does not end the process.
func TestPanic_whilePhotosAreSwept(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), s.Temporal, defectiveClock{}, slog.New(slog.DiscardHandler), orders.Options{})
		t.Cleanup(service.Close)
		ended, end := context.WithCancel(t.Context())
		end()
		service.RunPhotoSweeper(ended)
	})
}

// A panic while Temporal is looked at does not end the process: /readyz says that Temporal cannot
// be reached.
func TestPanic_whileTheHealthIsLookedAt(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	server, err := api.New(api.Options{
		Config: s.Config, DB: s.App.DB, Catalog: db.NewCatalogCache(s.App.DB), Orders: s.App.Orders, Photos: s.photoStore(t),
		Temporal: defective{Client: s.Temporal}, Clock: clock.System(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	response := httptest.NewRecorder()
	server.Handler().ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	require.Equal(t, http.StatusOK, response.Code, response.Body)
	require.Contains(t, response.Body.String(), `"temporal":"unreachable"`)

	s.App.Temporal = defective{Client: s.Temporal}
	waitFor, _ := serveHealth(t, s.Service)
	waitFor(healthState{http.StatusServiceUnavailable, "ok", "unreachable", ""})
}

func (s *service) photoStore(t *testing.T) photos.Store {
	t.Helper()
	store, err := photos.NewStore(s.Config.PhotoOptions())
	require.NoError(t, err)
	return store
}
