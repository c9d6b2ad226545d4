package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// registerHandlers registers updates and signals for every move. Updates return the outcome;
// signals, which people send from the Temporal UI, count as the operator's.
func (o *order) registerHandlers(ctx workflow.Context) error {
	o.events.AddReceive(o.requests, func(c workflow.ReceiveChannel, _ bool) {
		var handle func(workflow.Context)
		c.Receive(ctx, &handle)
		handle(ctx)
	})
	o.events.AddReceive(workflow.GetSignalChannel(ctx, RefreshName), func(c workflow.ReceiveChannel, _ bool) {
		if c.ReceiveAsync(nil) {
			o.dropRepeated(ctx, c)
			o.logRefresh(ctx, o.refresh(ctx))
		}
	})
	if err := o.registerRefresh(ctx); err != nil {
		return err
	}
	if err := registerHandler[Cancel](ctx, o); err != nil {
		return err
	}
	if err := registerHandler[Received](ctx, o); err != nil {
		return err
	}
	if err := registerHandler[Assigned](ctx, o); err != nil {
		return err
	}
	return registerHandler[Delivered](ctx, o)
}

// inTurn has the main loop of the run do what an update asks for, one request at a time, and waits
// for the outcome.
func (o *order) inTurn(ctx workflow.Context, do func(workflow.Context) error) error {
	outcome, answer := workflow.NewFuture(ctx)
	o.requests.Send(ctx, func(ctx workflow.Context) { answer.SetError(do(ctx)) })
	return outcome.Get(ctx, nil)
}

// registerHandler registers a message as a signal and as an update. The update's validator refuses
// illegal moves before they enter the history.
func registerHandler[M Message](ctx workflow.Context, o *order) error {
	var zero M
	name := string(zero.Move())
	o.events.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) {
		message, ok := receiveSignal[M](ctx, c)
		if !ok {
			return // malformed; Receive would block until the next signal of this name
		}
		r := request{move: message.Move(), by: models.ByOperator, message: message}
		if err := o.handleMove(ctx, r); err != nil {
			workflow.GetLogger(ctx).Warn("signal refused", "signal", name, "status", o.state.Status, "reason", err.Error())
		}
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context, message M) error {
			r := newUpdate(message)
			r.updateID = workflow.GetCurrentUpdateInfo(ctx).ID
			return o.inTurn(ctx, func(ctx workflow.Context) error { return o.handleMove(ctx, r) })
		},
		workflow.UpdateHandlerOptions{
			Validator: func(message M) error {
				r := newUpdate(message)
				if problem := message.problem(); problem != "" {
					return Refusal{Move: r.move, Status: o.state.Status, Reason: problem}.Err()
				}
				if !o.loaded {
					return nil // decided once the order is loaded
				}
				if _, verdict := o.validate(r); verdict == models.Refused {
					return Refusal{Move: r.move, Status: o.state.Status}.Err()
				}
				return nil
			},
			Description: "Moves the order; answers once the move is stored.",
		})
}

// receiveSignal takes a signal of a move that has arrived; ok is false if it is malformed. Its
// payload is decoded here: after a malformed signal the SDK goes on with the next one and decodes
// it into the same value, in which JSON has set what it could.
func receiveSignal[M Message](ctx workflow.Context, c workflow.ReceiveChannel) (message M, ok bool) {
	for {
		var payload converter.RawValue
		if !c.ReceiveAsync(&payload) {
			return message, false
		}
		err := converter.GetDefaultDataConverter().FromPayload(payload.Payload(), &message)
		if err == nil {
			return message, true
		}
		workflow.GetLogger(ctx).Error("malformed signal dropped", "signal", c.Name(), "error", err)
		if c.Len() == 0 || hasChange(ctx, changeSeparateSignals) {
			return message, false
		}
	}
}
