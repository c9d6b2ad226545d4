package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// Order is the workflow of one order. It validates each move against the transition table, writes
// the legal ones to the database and makes the first attempt at their webhook calls. It completes
// when the order is delivered or cancelled; a late reception, or a delivery that is taken back,
// starts a new run. With very many moves it continues as a new run before the history reaches its
// limits.
func Order(ctx workflow.Context, in OrderInput) error {
	// Cancelling the workflow in Temporal does not cancel the order: without the disconnected
	// context it would stop the timer and every later move.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	o := &order{id: in.OrderID, inbox: inboxOf(ctx)}
	if err := o.registerHandlers(ctx); err != nil {
		return err
	}
	if err := o.begin(ctx, in.Snapshot); err != nil {
		return err
	}
	for {
		err := workflow.Await(ctx, func() bool { return len(o.inbox.arrived) > 0 || o.isTimerDue() || o.canEnd(ctx) })
		if err != nil {
			return err
		}
		switch {
		case len(o.inbox.arrived) > 0:
			o.handleNext(ctx)
			o.continues = workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		case o.isTimerDue():
			o.timer = nil // nobody has received the order, or decided, in time
			_ = o.handleMove(ctx, newRequest(o.timerMove, models.ByAuto, models.Message{}))
		default:
			return o.end(ctx)
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
	// continues is set once the history is so long that another run should go on.
	continues bool
	// inbox has what was requested and is not handled yet; one request is handled at a time.
	inbox *inbox
	// calls are the first attempts at webhook calls, of which some may have ended.
	calls []workflow.Future
	// autoCancelAt is when the order cancels itself if nobody has received it.
	autoCancelAt time.Time
	// timer fires at timerAt and makes timerMove: the auto-cancel, or a decision that nobody has
	// taken. It is nil while the order waits for neither.
	timer     workflow.Future
	timerAt   time.Time
	timerMove models.Move
	stopTimer workflow.CancelFunc
}

// canEnd reports whether the run has nothing more to do and nobody waits for it. An ended order's
// waits for the outcome of its first attempts, so that its history has it.
func (o *order) canEnd(ctx workflow.Context) bool {
	isDone := (o.isEnded() || o.missing != nil) && !o.isCalling()
	return (isDone || o.continues) && workflow.AllHandlersFinished(ctx)
}

// isEnded reports whether the order is delivered or cancelled: what comes after starts a new run.
func (o *order) isEnded() bool { return o.state.Status.Ended() }

// end returns the result of the run. The next run of a continued order reads what is pending from
// the database.
func (o *order) end(ctx workflow.Context) error {
	if o.missing != nil || o.isEnded() {
		return o.missing
	}
	return workflow.NewContinueAsNewError(ctx, OrderWorkflowName, OrderInput{OrderID: o.id})
}

// begin takes the order's state, with its timer, and starts the webhook calls and the side
// activities.
func (o *order) begin(ctx workflow.Context, snapshot *Snapshot) error {
	if snapshot == nil {
		var err error
		if snapshot, err = o.load(ctx); err != nil {
			return err
		}
	}
	o.loaded = true
	o.restore(ctx, snapshot)
	o.callWebhooks(ctx, snapshot.Calls)
	if snapshot.ResolveMapLink {
		o.startSideActivity(ctx, ResolveMapLinkActivity, "follow the map link")
	}
	if snapshot.VerifyIdentity {
		o.startSideActivity(ctx, VerifyIdentityActivity, "verify the recipient's DNI")
	}
	return nil
}

func (o *order) load(ctx workflow.Context) (*Snapshot, error) {
	var snapshot Snapshot
	return &snapshot, runDBActivity(ctx, "read the order", LoadOrderActivity, nil, o.id, &snapshot)
}

// refresh takes over the state of an order that was moved outside this run: a lost workflow task
// leaves the run behind its row. The webhook calls of the moves that it missed are the queue's.
func (o *order) refresh(ctx workflow.Context) error {
	snapshot, err := o.load(ctx)
	if err != nil {
		workflow.GetLogger(ctx).Error("order not refreshed", "order_id", o.id, "error", err)
		if hasType(err, orderMissingErrorType) {
			o.missing = err
		}
		return err
	}
	o.refreshedAt = workflow.Now(ctx)
	if snapshot.Seq != o.seq {
		o.restore(ctx, snapshot)
	}
	return nil
}

// dropRepeatedRefreshes takes the refresh signals that have arrived since the first: one read
// serves them all.
func (o *order) dropRepeatedRefreshes(ctx workflow.Context) {
	for c := workflow.GetSignalChannel(ctx, RefreshName); c.ReceiveAsync(nil); {
	}
	o.inbox.arrived = slices.DeleteFunc(o.inbox.arrived, func(a arrival) bool { return a.signal == RefreshName })
}

// restore takes over the state of the row.
func (o *order) restore(ctx workflow.Context, snapshot *Snapshot) {
	o.guide, o.autoCancelAt = snapshot.GuideCode, snapshot.AutoCancelAt
	o.setState(ctx, snapshot.Seq, snapshot.State, snapshot.Decision)
}

// setState sets the order's state with its timer, and shows the state in the Temporal UI.
func (o *order) setState(ctx workflow.Context, seq int, state models.State, decision *Decision) {
	o.seq, o.state = seq, state
	switch {
	case state.Status == models.StatusRegistered:
		o.keepTimer(ctx, o.autoCancelAt, models.MoveCancel)
	case decision != nil:
		o.keepTimer(ctx, decision.Due, decision.Move)
	default:
		o.dropTimer()
	}
	details := fmt.Sprintf("**%s** · guía %s", state.Status.Label(), o.guide)
	if label := state.Substatus.Label(); label != "" {
		details += " · " + label
	}
	if state.CancelledBy != "" {
		details += fmt.Sprintf(" · cancelado por: %s", state.CancelledBy)
	}
	workflow.SetCurrentDetails(ctx, details)
}

// keepTimer has a timer that makes a move at a time, unless there is one already.
func (o *order) keepTimer(ctx workflow.Context, at time.Time, move models.Move) {
	if o.timer != nil && o.timerAt.Equal(at) && o.timerMove == move {
		return
	}
	o.dropTimer()
	o.startTimer(ctx, at, move)
}

func (o *order) dropTimer() {
	if o.timer != nil {
		o.stopTimer()
		o.timer = nil
	}
}

// startTimer starts the timer. The time is absolute: a run that starts late waits less.
func (o *order) startTimer(ctx workflow.Context, at time.Time, move models.Move) {
	ctx, o.stopTimer = workflow.WithCancel(ctx)
	o.timerAt, o.timerMove = at, move
	summary := "auto-cancel"
	if move != models.MoveCancel {
		summary = "decision: " + string(move)
	}
	o.timer = workflow.NewTimerWithOptions(ctx, at.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: summary})
}

func (o *order) isTimerDue() bool { return o.timer != nil && o.timer.IsReady() }

// startSideActivity starts an activity whose result the order does not depend on.
func (o *order) startSideActivity(ctx workflow.Context, activity, summary string) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              outQueue(ctx),
		StartToCloseTimeout:    30 * time.Second,
		ScheduleToCloseTimeout: 30 * time.Minute,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 2 * time.Second, BackoffCoefficient: 3,
			MaximumInterval: 5 * time.Minute},
	})
	workflow.ExecuteActivity(ctx, activity, o.id)
}
