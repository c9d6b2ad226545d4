package workflows

import "go.temporal.io/sdk/workflow"

// Change IDs for workflow.GetVersion: a history recorded before a change is replayed without it.
// Each says what a run without the change does. An ID may go, with the code of that run, once no
// workflow is open that began with a release without it. How long that takes has no limit: a
// received order stays open until somebody delivers or cancels it. Histories that have the change's
// marker are then replayed without the call.
const (
	// A refresh does not send the pending deliveries that the run has missed.
	changeRestoreDeliveries = "restore-deliveries"
	// A verdict is final without a read of the row.
	changeRefreshFirst = "refresh-first"
	// All deliveries are sent at once, however many there are.
	changeBoundedCalls = "bounded-calls"
	// Every refresh signal reads the row, and so does every signal of a move that is not made.
	changeFewerReads = "fewer-reads"
	// The run takes over a row with another Seq, ignores one with its own, and goes on.
	changeRowWins = "row-wins"
	// A call goes on to its next attempt although its delivery was settled outside the run.
	changeStopSettled = "stop-settled"
	// An event without retries waits without limit for the previous one, also if that has retries.
	changeRetriesOff = "retries-off"
	// A receiver's refusal fails the workflow of a redelivery.
	changeRedeliveryOutcome = "redelivery-outcome"
	// A signal after a malformed one is decoded into the same value.
	changeSeparateSignals = "separate-signals"
)

// hasChange reports whether the code that first executed this point of the run had the change.
func hasChange(ctx workflow.Context, change string) bool {
	return workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) == 1
}
