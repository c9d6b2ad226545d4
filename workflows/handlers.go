package workflows

import (
	"slices"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// registerHandlers registers the updates, which return the outcome of what they ask for. Signals,
// which people send from the Temporal UI, have the same names and need no registration.
func (o *order) registerHandlers(ctx workflow.Context) error {
	for _, move := range models.Moves {
		if err := o.registerMove(ctx, move); err != nil {
			return err
		}
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, RefreshName,
		func(ctx workflow.Context) error { return o.inTurn(ctx, o.refresh) },
		workflow.UpdateHandlerOptions{Description: "Reloads the order from the database."})
}

// registerMove registers the update of a move. Its validator refuses illegal moves before they
// enter the history, except those that come before the order is loaded.
func (o *order) registerMove(ctx workflow.Context, move models.Move) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, string(move),
		func(ctx workflow.Context, message models.Message) error {
			r := newRequest(move, message.Actor(), message)
			r.updateID = workflow.GetCurrentUpdateInfo(ctx).ID
			return o.inTurn(ctx, func(ctx workflow.Context) error { return o.handleMove(ctx, r) })
		},
		workflow.UpdateHandlerOptions{
			Validator: func(message models.Message) error {
				r := newRequest(move, message.Actor(), message)
				if problem := r.Problem(); problem != "" {
					return o.refusal(r, problem)
				}
				if _, verdict := o.decide(r); o.loaded && verdict == models.Refused {
					return o.refusal(r, "")
				}
				return nil
			},
			Description: "Moves the order; answers once the move is stored.",
		})
}

// inTurn has the main loop of the run do what an update asks for, one request at a time, and waits
// for the outcome.
func (o *order) inTurn(ctx workflow.Context, do func(workflow.Context) error) error {
	outcome, answer := workflow.NewFuture(ctx)
	o.inbox.arrived = append(o.inbox.arrived, arrival{do: func(ctx workflow.Context) { answer.SetError(do(ctx)) }})
	return outcome.Get(ctx, nil)
}

// handleNext handles the first message of the inbox.
func (o *order) handleNext(ctx workflow.Context) {
	message := o.inbox.arrived[0]
	o.inbox.arrived = o.inbox.arrived[1:]
	switch {
	case message.do != nil:
		message.do(ctx)
	case message.signal == RefreshName:
		o.dropRepeatedRefreshes(ctx)
		_ = o.refresh(ctx) // it has logged its error
	case slices.Contains(models.Moves, models.Move(message.signal)):
		o.handleSignal(ctx, models.Move(message.signal), message.number)
	}
}

// handleSignal handles the signal of a move. It counts as the operator's, whoever sent it is not
// known, and nobody hears whether it was refused. Its payload is decoded here: the SDK would drop a
// malformed one and take the next, which may have come after signals of other names.
func (o *order) handleSignal(ctx workflow.Context, move models.Move, number int) {
	var payload converter.RawValue
	if !workflow.GetSignalChannel(ctx, string(move)).ReceiveAsync(&payload) {
		return // the SDK has dropped it
	}
	var message models.Message
	if err := converter.GetDefaultDataConverter().FromPayload(payload.Payload(), &message); err != nil {
		workflow.GetLogger(ctx).Error("malformed signal dropped", "signal", move, "error", err)
		return
	}
	message.Requester, message.EntryID = models.Requester{}, nil
	r := newRequest(move, models.ByOperator, message)
	r.signal = number
	if err := o.handleMove(ctx, r); err != nil {
		workflow.GetLogger(ctx).Warn("signal refused", "signal", move, "status", o.state.Status, "reason", err.Error())
	}
}
