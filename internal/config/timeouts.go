package config

import "time"

// Timeouts are how long the service waits for dependencies. They are not configurable: messages to
// callers and other limits depend on them. Tests lengthen them, so that a busy machine does not
// reach one.
type Timeouts struct {
	// Connect is how long a starting process waits for a database that does not answer.
	Connect time.Duration
	// Acquire is how long a statement waits for a connection to the database. The request that it is
	// for gets 503 then.
	Acquire time.Duration
	// Request bounds the handling of a request.
	Request time.Duration
	// Upload replaces Request for multipart bodies: a phone on a poor connection sends a photo.
	Upload time.Duration
	// Bulk replaces Request for work on many orders or places in the panel.
	Bulk time.Duration
	// Connection bounds a request from its first byte to the last of its response, however slow the
	// client is; longer than Upload.
	Connection time.Duration
	// Start bounds the start of a created order's workflow; the SDK gives one call half of it.
	Start time.Duration
	// FinishStarts is how long a stopping process goes on starting the workflows of orders that were
	// just created.
	FinishStarts time.Duration
	// Move is how long a caller waits for the outcome of a move.
	Move time.Duration
	// MoveDeadline is how long after its request a move may still be made. It travels with the move:
	// after an outage nobody expects a change that was asked for before it.
	MoveDeadline time.Duration
	// WorkflowTask is how long a worker has for one workflow task of an order; Temporal's own default.
	// A task that takes longer is given to another worker, and callers may hear of a refusal instead
	// of the success of their own move. With 3 seconds slow cores never got through the replay of an
	// order with 5,600 events: every task was over before its end.
	WorkflowTask time.Duration
	// Deadlock is how long workflow code may run without yielding before the SDK fails the workflow
	// task as deadlocked. The SDK's default of one second is reached by a process that gets no
	// processor, and the code then goes on beside its own replay.
	Deadlock time.Duration
	// BulkMove bounds a move of many orders at once: their assignment to one rider, or their cancel.
	BulkMove time.Duration
	// Exchange bounds one exchange with a webhook's receiver, a map host or an identity provider,
	// from the dial to the last byte. The contract gives a receiver 5 seconds.
	Exchange time.Duration
	// Bucket is how long object storage may take to store a photo, to begin to send one, and to send
	// each part of it. Less than Request.
	Bucket time.Duration
	// Outcome is how long a user waits for the result of a redelivery; longer than Exchange.
	Outcome time.Duration
	// LastPass is how long the last pass of a reconcile run may take after the run's time is over.
	LastPass time.Duration
	// Readiness bounds /readyz; Temporal and the place of the photos are given a third of it.
	Readiness time.Duration
}

// DefaultTimeouts are those of the running service.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Connect:      5 * time.Second,
		Acquire:      time.Second,
		Request:      10 * time.Second,
		Upload:       time.Minute,
		Bulk:         40 * time.Second,
		Connection:   90 * time.Second,
		Start:        10 * time.Second,
		FinishStarts: 3 * time.Second,
		Move:         4 * time.Second,
		MoveDeadline: 30 * time.Second,
		WorkflowTask: 10 * time.Second,
		Deadlock:     5 * time.Second,
		BulkMove:     20 * time.Second,
		Exchange:     5 * time.Second,
		Bucket:       8 * time.Second,
		Outcome:      8 * time.Second,
		LastPass:     20 * time.Second,
		Readiness:    3 * time.Second,
	}
}

// KeyLease is how long a request may hold an Idempotency-Key: one and a half times Request.
func (t Timeouts) KeyLease() time.Duration { return t.Request * 3 / 2 }
