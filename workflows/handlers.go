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
// enter the history.
func (o *order) registerMove(ctx workflow.Context, move models.Move) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, string(move),
		func(ctx workflow.Context, message Message) error {
			r := newUpdate(move, message)
			r.updateID = workflow.GetCurrentUpdateInfo(ctx).ID
			return o.inTurn(ctx, func(ctx workflow.Context) error { return o.handleMove(ctx, r) })
		},
		workflow.UpdateHandlerOptions{
			Validator: func(message Message) error {
				r := newUpdate(move, message)
				if problem := r.problem(); problem != "" {
					return Refusal{Move: move, Status: o.state.Status, Reason: problem}.Err()
				}
				if !o.loaded {
					return nil // decided once the order is loaded
				}
				if _, verdict := o.validate(r); verdict == models.Refused {
					return Refusal{Move: move, Status: o.state.Status}.Err()
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
	message := o.inbox.next()
	move := models.Move(message.signal)
	switch {
	case message.do != nil:
		message.do(ctx)
	case message.signal == RefreshName:
		o.dropRepeatedRefreshes(ctx)
		_ = o.refresh(ctx) // it has logged its error
	case slices.Contains(models.Moves, move):
		o.handleSignal(ctx, move)
	}
}

// handleSignal handles the signal of a move. It counts as the operator's, and nobody hears whether
// it was refused.
func (o *order) handleSignal(ctx workflow.Context, move models.Move) {
	message, ok := receiveSignal(ctx, move)
	if !ok {
		return
	}
	if err := o.handleMove(ctx, request{Message: message, by: models.ByOperator, signal: true}); err != nil {
		workflow.GetLogger(ctx).Warn("signal refused", "signal", move, "status", o.state.Status, "reason", err.Error())
	}
}

// receiveSignal takes the signal of a move that has arrived; ok is false if it is malformed. Its
// payload is decoded here: the SDK would drop a malformed one and take the next, which may have
// come after signals of other names.
func receiveSignal(ctx workflow.Context, move models.Move) (message Message, ok bool) {
	var payload converter.RawValue
	if !workflow.GetSignalChannel(ctx, string(move)).ReceiveAsync(&payload) {
		return Message{}, false // the SDK has dropped it
	}
	if err := converter.GetDefaultDataConverter().FromPayload(payload.Payload(), &message); err != nil {
		workflow.GetLogger(ctx).Error("malformed signal dropped", "signal", move, "error", err)
		return Message{}, false
	}
	message.Move, message.Requester = move, Requester{} // whoever sent it is not known
	return message, true
}
