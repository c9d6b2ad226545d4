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
// possible any more, or after the auto-cancel; a late reception then starts a new run. An order
// with very many moves continues as a new run before the history reaches its limits.
func Order(ctx workflow.Context, in OrderInput) error {
	// Cancelling the workflow in Temporal does not cancel the order: without the disconnected
	// context it would stop the timer and every later move.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	o := &order{
		id: in.OrderID, requests: workflow.NewNamedChannel(ctx, "moves"), events: workflow.NewSelector(ctx),
		lastCall: map[uuid.UUID]*webhookCall{}, scheduled: map[uuid.UUID]bool{},
	}
	if err := o.registerHandlers(ctx); err != nil {
		return err
	}
	if err := o.begin(ctx, in.Snapshot); err != nil {
		return err
	}
	for {
		if o.canLoadMore(ctx) {
			o.loadMoreDeliveries(ctx)
			continue
		}
		// Messages that have arrived are handled before the run ends.
		if !o.isEnding(ctx) || o.events.HasPending() {
			o.events.Select(ctx)
			continue
		}
		if workflow.AllHandlersFinished(ctx) {
			return o.end(ctx)
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
	// refreshedAt is when the row was last read again.
	refreshedAt time.Time
	// missing is set once the order turned out not to exist: a backup was restored without it.
	missing error
	// superseded is set once the row turned out to be from an older copy of the database.
	superseded bool
	// requests receives what updates ask for, handled one at a time; signals have their own channels.
	requests workflow.Channel
	// events selects over moves, the timer and completed webhook calls.
	events workflow.Selector
	// calls are the webhook calls that have not completed; lastCall is the latest call of each
	// webhook.
	calls    []*webhookCall
	lastCall map[uuid.UUID]*webhookCall
	// scheduled are the deliveries that this run sends or has sent; moreDeliveries means that others
	// wait in the database until these have ended, boundedCalls that maxPendingCalls made them
	// wait.
	scheduled      map[uuid.UUID]bool
	moreDeliveries bool
	boundedCalls   bool

	stopTimer workflow.CancelFunc
}

// isEnding reports whether the run has nothing more to do.
func (o *order) isEnding(ctx workflow.Context) bool {
	return o.isDone() || o.missing != nil || o.superseded || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// isDone reports whether the run can complete.
func (o *order) isDone() bool {
	return (o.state.Final() || o.state.Revivable()) && len(o.calls) == 0 && !o.moreDeliveries
}

// end returns the result of the run. The next run of a continued order reads everything that is
// pending from the database: the timer, the deliveries and the side activities.
func (o *order) end(ctx workflow.Context) error {
	switch {
	case o.missing != nil:
		return o.missing
	case o.isDone() && !o.superseded:
		return nil
	}
	return workflow.NewContinueAsNewError(ctx, OrderWorkflowName, OrderInput{OrderID: o.id})
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
	o.moreDeliveries = snapshot.MoreDeliveries
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
		_ = o.handleMove(ctx, request{move: models.MoveCancel, by: models.ByAuto})
	})
}

// cancelTimer stops the auto-cancel timer.
func (o *order) cancelTimer() {
	if o.stopTimer != nil {
		o.stopTimer()
		o.stopTimer = nil
	}
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
		TaskQueue:              outQueue(ctx),
		StartToCloseTimeout:    30 * time.Second,
		ScheduleToCloseTimeout: 30 * time.Minute,
		Summary:                summary,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 2 * time.Second, BackoffCoefficient: 3, MaximumInterval: 5 * time.Minute},
	})
	workflow.ExecuteActivity(ctx, activity, o.id)
}
