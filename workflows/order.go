package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// Order is the workflow of one order. It handles moves, validates each against the transition
// table, writes the legal ones to the database and schedules webhooks. It completes when no move is
// possible any more, or after the auto-cancel; a late reception then starts a new run.
func Order(ctx workflow.Context, in OrderInput) error {
	// Cancelling the workflow in Temporal does not cancel the order: without the disconnected
	// context it would stop the timer and every later move.
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
		// Handle messages that arrived in the last task before completing.
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

// order is the state of one workflow run.
type order struct {
	id    uuid.UUID
	state models.State
	seq   int
	guide string

	loaded bool
	// requests receives the moves of updates; signals have their own channels.
	requests workflow.Channel
	// events selects over moves, the timer and completed webhook calls.
	events workflow.Selector
	// pendingCalls counts the webhook calls that have not completed; lastCall is the latest call of
	// each webhook.
	pendingCalls int
	lastCall     map[uuid.UUID]workflow.Future

	stopTimer workflow.CancelFunc
}

// isDone reports whether the run can complete.
func (o *order) isDone() bool {
	return (o.state.Final() || o.state.Revivable()) && o.pendingCalls == 0
}

// begin restores the order's state and starts the timer, the webhooks and the side activities.
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

// refresh reloads the order if it was moved outside this run. Its pending deliveries are left to
// the reconcile workflow.
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

// startTimer starts the auto-cancel timer. The time is absolute: a run that starts late waits less.
func (o *order) startTimer(ctx workflow.Context, at time.Time) {
	timerCtx, stop := workflow.WithCancel(ctx)
	o.stopTimer = stop
	timer := workflow.NewTimerWithOptions(timerCtx, at.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: "auto-cancel"})
	o.events.AddFuture(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) != nil {
			return // cancelled by a move
		}
		_ = o.handleMove(ctx, request{move: models.MoveAutoCancel, by: models.ByAuto})
	})
}

// describe sets the current details that the Temporal UI shows for the workflow.
func (o *order) describe(ctx workflow.Context) {
	details := fmt.Sprintf("**%s** · guía %s", o.state.Status.Label(), o.guide)
	if o.state.CancelledBy != "" {
		details += fmt.Sprintf(" · cancelado por: %s", o.state.CancelledBy)
	}
	workflow.SetCurrentDetails(ctx, details)
}

// startSideActivity starts an activity whose result the order does not depend on.
func (o *order) startSideActivity(ctx workflow.Context, activity, summary string) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    30 * time.Second,
		ScheduleToCloseTimeout: 30 * time.Minute,
		Summary:                summary,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 2 * time.Second, BackoffCoefficient: 3, MaximumInterval: 5 * time.Minute},
	})
	workflow.ExecuteActivity(ctx, activity, o.id)
}
