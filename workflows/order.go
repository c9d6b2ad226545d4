package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// Order carries one order from registration to delivery or cancellation. It listens for moves,
// holds each against the transition table, has the legal ones written to the database, and calls
// the webhooks that want to know. It ends when no move is possible any more, or when the timer has
// cancelled the order: a late reception starts it anew.
func Order(ctx workflow.Context, in OrderInput) error {
	// Cancelling the workflow in Temporal's own way is not a move: it would take the timer and
	// every later move away from an order that stands.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	o := &order{
		id: in.OrderID, requests: workflow.NewNamedChannel(ctx, "moves"), events: workflow.NewSelector(ctx),
		lastCall: map[uuid.UUID]workflow.Future{},
	}
	if err := o.registerHandlers(ctx); err != nil {
		return err
	}
	if err := o.begin(ctx, in.Snapshot); err != nil {
		return err
	}
	for {
		if !o.isDone() {
			o.events.Select(ctx)
			continue
		}
		// Nothing is owed any more. Whoever came in the last moment is served before the run ends.
		if o.events.HasPending() {
			o.events.Select(ctx)
			continue
		}
		if workflow.AllHandlersFinished(ctx) {
			return nil
		}
		if err := workflow.Await(ctx, func() bool { return o.events.HasPending() || workflow.AllHandlersFinished(ctx) }); err != nil {
			return err
		}
	}
}

// order is the state of one run.
type order struct {
	id    uuid.UUID
	state models.State
	seq   int
	guide string

	loaded bool
	// requests brings the moves asked for by updates; signals have channels of their own.
	requests workflow.Channel
	// events is all that can happen to the order: moves, the timer, finished webhook calls.
	events workflow.Selector
	// calls counts webhook calls that have not ended; latestCall is the last one for each webhook.
	pendingCalls int
	lastCall     map[uuid.UUID]workflow.Future

	stopTimer workflow.CancelFunc
}

// isDone reports whether the run has nothing left to wait for.
func (o *order) isDone() bool {
	return (o.state.Final() || o.state.Revivable()) && o.pendingCalls == 0
}

// begin takes over the order as it stands and sets going what it waits for.
func (o *order) begin(ctx workflow.Context, snapshot *Snapshot) error {
	if snapshot == nil {
		loaded, err := o.load(ctx)
		if err != nil {
			return err
		}
		snapshot = loaded
	}
	o.restore(snapshot)
	o.loaded = true
	o.describe(ctx)
	if snapshot.Status == models.StatusRegistered {
		o.startTimer(ctx, snapshot.AutoCancelAt)
	}
	o.scheduleWebhooks(ctx, snapshot.Deliveries)
	if snapshot.ResolveMapLink {
		o.startSideActivity(ctx, ResolveMapLinkActivity, "follow the map link")
	}
	if snapshot.VerifyIdentity {
		o.startSideActivity(ctx, VerifyIdentityActivity, "verify the recipient's DNI")
	}
	return nil
}

func (o *order) restore(snapshot *Snapshot) {
	o.state, o.seq, o.guide = snapshot.state(), snapshot.Seq, snapshot.GuideCode
}

// refresh takes over how the order really stands, if it was moved behind the run's back. What its
// receivers have not been told is left to the reconcile workflow, which drives abandoned
// deliveries.
func (o *order) refresh(ctx workflow.Context) {
	snapshot, err := o.load(ctx)
	if err != nil || snapshot.Seq == o.seq {
		return
	}
	o.restore(snapshot)
	if o.state.Status != models.StatusRegistered {
		o.cancelTimer()
	}
	o.describe(ctx)
}

// startTimer waits for the moment the order cancels itself. The moment is absolute: a run that
// starts late waits less.
func (o *order) startTimer(ctx workflow.Context, at time.Time) {
	timerCtx, stop := workflow.WithCancel(ctx)
	o.stopTimer = stop
	timer := workflow.NewTimerWithOptions(timerCtx, at.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: "auto-cancel"})
	o.events.AddFuture(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) != nil {
			return // reception or a cancel stopped it
		}
		_ = o.handleMove(ctx, request{move: models.MoveAutoCancel, by: models.ByAuto})
	})
}

// describe keeps the line that the Temporal UI shows under the workflow.
func (o *order) describe(ctx workflow.Context) {
	details := fmt.Sprintf("**%s** · guía %s", o.state.Status.Label(), o.guide)
	if o.state.CancelledBy != "" {
		details += fmt.Sprintf(" · cancelado por: %s", o.state.CancelledBy)
	}
	workflow.SetCurrentDetails(ctx, details)
}

// startSideActivity asks the outside world something about the order. Whatever comes of it, the
// order goes on.
func (o *order) startSideActivity(ctx workflow.Context, activity, summary string) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    30 * time.Second,
		ScheduleToCloseTimeout: 30 * time.Minute,
		Summary:                summary,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 2 * time.Second, BackoffCoefficient: 3, MaximumInterval: 5 * time.Minute},
	})
	workflow.ExecuteActivity(ctx, activity, o.id)
}
