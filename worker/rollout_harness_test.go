package worker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// rollout is a service whose workers are processes of their own: the SDK shares its cache of
// workflow runs between the workers of one process, whatever their code.
type rollout struct {
	*service
	t *testing.T
	// versioned are the releases whose workers have a version. They are "1", "2" with changed
	// workflow code, and "1b" with the code of "1".
	versioned []string

	mu     sync.Mutex
	orders []string
}

func beginRollout(t *testing.T, versioned ...string) *rollout {
	t.Helper()
	s := boot(t, "", apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
		// A task that a worker took as it stopped is given out again after this time.
		c.Timeouts.WorkflowTask = 5 * time.Second
	}})
	return &rollout{service: s, t: t, versioned: versioned}
}

// makeCurrent makes a release current, as `temporal worker deployment set-current-version` does.
func (r *rollout) makeCurrent(release string) {
	r.t.Helper()
	poll.Until(r.t, func() error {
		_, err := r.Temporal.WorkerDeploymentClient().GetHandle(r.Config.TaskQueue).SetCurrentVersion(r.t.Context(),
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: release})
		return err
	})
	// The task queue is told of it afterwards: until then tasks go to the version before.
	poll.Until(r.t, func() error {
		described, err := r.Temporal.WorkflowService().DescribeTaskQueue(r.t.Context(), &workflowservice.DescribeTaskQueueRequest{
			Namespace: client.DefaultNamespace, TaskQueue: &taskqueue.TaskQueue{Name: r.Config.TaskQueue}, TaskQueueType: enums.TASK_QUEUE_TYPE_WORKFLOW,
		})
		if err != nil {
			return err
		}
		if current := described.GetVersioningInfo().GetCurrentDeploymentVersion().GetBuildId(); current != release {
			return fmt.Errorf("the task queue's current version is %q", current)
		}
		return nil
	})
}

// CreateOrder creates an order whose history is looked at in the end.
func (r *rollout) CreateOrder(t *testing.T, key string) string {
	id := r.service.CreateOrder(t, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orders = append(r.orders, id)
	return id
}

// beginChangedOrder creates orders until one was begun by changed code.
func (r *rollout) beginChangedOrder() (id string) {
	r.t.Helper()
	poll.Until(r.t, func() error {
		id = r.CreateOrder(r.t, r.Key)
		r.waitForIdle(r.t, id)
		for _, event := range r.historyOf(r.t, workflowOf(id), "").Events {
			if event.GetEventType() == enums.EVENT_TYPE_TIMER_STARTED && strings.Contains(string(event.GetUserMetadata().GetSummary().GetData()), changedTimer) {
				return nil
			}
		}
		return errors.New("the order was begun by unchanged code")
	})
	return id
}

// receiveInBackground receives an order while its worker may be away.
func (r *rollout) receiveInBackground(id string) <-chan *apptest.Answer {
	answer := make(chan *apptest.Answer, 1)
	go func() { answer <- r.move(r.t, id, "receive", nil) }()
	return answer
}

// finishOrder moves an order on until it is delivered.
func (r *rollout) finishOrder(id string) {
	r.t.Helper()
	switch r.order(r.t, id).String("status") {
	case "registered":
		r.receive(r.t, id)
		fallthrough
	case "received":
		r.assign(r.t, id, 0)
		fallthrough
	default:
		r.deliver(r.t, id)
	}
	r.waitForEnd(r.t, workflowOf(id))
}

// load creates orders and moves them until they are delivered, until it is told to finish.
type load struct {
	t        *testing.T
	finished atomic.Int32
	done     chan struct{}
	ended    sync.WaitGroup
}

func (r *rollout) startLoad() *load {
	l := &load{t: r.t, done: make(chan struct{})}
	r.t.Cleanup(l.finish)
	for range 2 {
		l.ended.Go(func() {
			for {
				select {
				case <-l.done:
					return
				default:
					r.finishOrder(r.CreateOrder(r.t, r.Key))
					l.finished.Add(1)
				}
			}
		})
	}
	return l
}

// awaitFinished waits until so many orders have been delivered since.
func (l *load) awaitFinished(count int32) {
	l.t.Helper()
	want := l.finished.Load() + count
	poll.Until(l.t, func() error {
		if got := l.finished.Load(); got < want {
			return fmt.Errorf("%d of %d orders delivered", got, want)
		}
		return nil
	})
}

func (l *load) finish() {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	l.ended.Wait()
}

// histories are those of all orders.
func (r *rollout) histories() map[string]*history.History {
	r.mu.Lock()
	ids := slices.Clone(r.orders)
	r.mu.Unlock()
	all := map[string]*history.History{}
	for _, id := range ids {
		all[id] = r.historyOf(r.t, workflowOf(id), "")
	}
	return all
}

// failedTasks lists the workflow tasks that a worker has failed.
func (r *rollout) failedTasks() (failed []string) {
	r.t.Helper()
	for id, events := range r.histories() {
		for _, event := range events.Events {
			if attributes := event.GetWorkflowTaskFailedEventAttributes(); attributes != nil {
				failed = append(failed, fmt.Sprintf("%s: %s: %s", id, attributes.Cause, attributes.Failure.GetMessage()))
			}
		}
	}
	return failed
}

// tasksOf lists the orders with a workflow task that a version has completed.
func (r *rollout) tasksOf(version string) (ids []string) {
	for id, events := range r.histories() {
		if slices.Contains(completedBy(events), version) {
			ids = append(ids, id)
		}
	}
	return ids
}

// versionsOf lists the versions that have completed workflow tasks of an order, one after the
// other.
func (r *rollout) versionsOf(id string) []string {
	r.t.Helper()
	return completedBy(r.historyOf(r.t, workflowOf(id), ""))
}

// completedBy lists the versions that have completed workflow tasks, one after the other.
func completedBy(events *history.History) (versions []string) {
	for _, event := range events.Events {
		if attributes := event.GetWorkflowTaskCompletedEventAttributes(); attributes != nil {
			versions = append(versions, attributes.GetDeploymentVersion().GetBuildId())
		}
	}
	return slices.Compact(versions)
}
