package worker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"despacho/models"
	"despacho/test/testenv"
	"despacho/workflows"
)

// BenchmarkFirstUpdate starts an order and receives it at once, 8 callers at a time, with different
// pollers:
//
//	go test ./worker -run - -bench FirstUpdate -benchtime 400x
//
// The database is left out (ApplyMove answers at once): what is measured is Temporal and the
// worker.
func BenchmarkFirstUpdate(b *testing.B) {
	fixed := func(pollers int) worker.Options {
		return worker.Options{
			WorkflowTaskPollerBehavior: worker.NewPollerBehaviorSimpleMaximum(worker.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: pollers}),
		}
	}
	scaling := func(options worker.PollerBehaviorAutoscalingOptions) worker.Options {
		return worker.Options{WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(options)}
	}
	for _, c := range []struct {
		name    string
		options worker.Options
	}{
		{"default", worker.Options{}},
		{"autoscaling", scaling(worker.PollerBehaviorAutoscalingOptions{})},
		{"autoscaling-from-16", scaling(worker.PollerBehaviorAutoscalingOptions{InitialNumberOfPollers: 16, MinimumNumberOfPollers: 16})},
		{"fixed-16", fixed(16)}, {"fixed-32", fixed(32)}, {"fixed-64", fixed(64)},
		{"chosen", workerOptions(Options{StopTimeout: time.Second})},
	} {
		b.Run(c.name, func(b *testing.B) { benchFirstUpdate(b, c.options) })
	}
}

func benchFirstUpdate(b *testing.B, options worker.Options) {
	temporal, err := client.Dial(client.Options{HostPort: testenv.Temporal(b), Logger: noopLogger{}})
	if err != nil {
		b.Fatal(err)
	}
	defer temporal.Close()
	queue := testenv.TaskQueue(b)
	w := worker.New(temporal, queue, options)
	Register(w)
	w.RegisterActivityWithOptions(func(context.Context, workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		return &workflows.ApplyMoveResult{}, nil
	}, activity.RegisterOptions{Name: workflows.ApplyMoveActivity})
	if err := w.Start(); err != nil {
		b.Fatal(err)
	}
	defer w.Stop()

	const callers = 8
	var mu sync.Mutex
	var waits []time.Duration
	work := make(chan struct{})
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for range work {
				wait, err := startAndReceive(temporal, queue)
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				waits = append(waits, wait)
				mu.Unlock()
			}
		})
	}
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(len(waits))/time.Since(began).Seconds(), "orders/s")
}

// startAndReceive returns the duration of the update, without the start.
func startAndReceive(temporal client.Client, queue string) (time.Duration, error) {
	id := uuid.New()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: workflows.OrderWorkflowID(id), TaskQueue: queue},
		workflows.OrderWorkflowName, workflows.OrderInput{OrderID: id, Snapshot: &workflows.Snapshot{
			State: models.State{Status: models.StatusRegistered}, Seq: 1, GuideCode: "BENCH", AutoCancelAt: time.Now().Add(time.Hour),
		}})
	if err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	began := time.Now()
	handle, err := temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflows.OrderWorkflowID(id), UpdateName: workflows.ReceivedName, Args: []any{models.Message{}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	return time.Since(began), err
}

// noopLogger discards the SDK's log.
type noopLogger struct{}

func (noopLogger) Debug(string, ...any) {}
func (noopLogger) Info(string, ...any)  {}
func (noopLogger) Warn(string, ...any)  {}
func (noopLogger) Error(string, ...any) {}
