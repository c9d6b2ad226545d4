// Package workflows holds the Temporal workflows of orders. They decide; activities do the I/O.
package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// Names of the workflows, as the Temporal UI shows them.
const (
	OrderWorkflowName      = "Order"
	SimulationWorkflowName = "Simulation"
	ReconcileWorkflowName  = "Reconcile"
)

// Names of the signals and updates of an order: each is both.
const (
	CancelName        = string(models.MoveCancel)
	ReceivedName      = string(models.MoveReceive)
	AssignedName      = string(models.MoveAssign)
	DeliveredName     = string(models.MoveDeliver)
	AttemptFailedName = string(models.MoveFail)
	RetryPlannedName  = string(models.MoveRetry)
	ReturningName     = string(models.MoveReturn)
	ReturnedName      = string(models.MoveHandBack)
	UndoneName        = string(models.MoveUndo)
	// RefreshName makes an order's workflow reload the order from the database.
	RefreshName = "refresh"
)

// Types of the errors that activities and updates return.
const (
	refusedErrorType      = "MoveRefused"
	orderMissingErrorType = "OrderMissing"
	notStoredErrorType    = "NotStored"
	noNextStepErrorType   = "NoNextStep"
)

// Search attributes of an order's workflow, set when it starts.
var (
	GuideCodeAttribute = temporal.NewSearchAttributeKeyKeyword("DespachoGuideCode")
	OperatorAttribute  = temporal.NewSearchAttributeKeyKeyword("DespachoOperator")
	StoreAttribute     = temporal.NewSearchAttributeKeyKeyword("DespachoStore")
)

// SearchAttributes lists the attributes a namespace must have, with their types.
func SearchAttributes() map[string]string {
	return map[string]string{
		GuideCodeAttribute.GetName(): "Keyword", OperatorAttribute.GetName(): "Keyword", StoreAttribute.GetName(): "Keyword",
	}
}

// Prefixes of the ids of workflows: the id of the order follows.
const (
	OrderWorkflowPrefix      = "order-"
	SimulationWorkflowPrefix = "simulation-"
)

// OrderWorkflowID is the id of an order's workflow.
func OrderWorkflowID(orderID uuid.UUID) string { return OrderWorkflowPrefix + orderID.String() }

// SimulationWorkflowID is the id of the workflow that moves a test order.
func SimulationWorkflowID(orderID uuid.UUID) string {
	return SimulationWorkflowPrefix + orderID.String()
}

// OutQueue is the task queue of the activities that leave the house: webhook calls, map links and
// identity checks. TaskQueue has everything else.
func OutQueue(taskQueue string) string { return taskQueue + "-out" }

func outQueue(ctx workflow.Context) string { return OutQueue(workflow.GetInfo(ctx).TaskQueueName) }

// ReconcileScheduleID is the id of the schedule of the reconcile workflow.
func ReconcileScheduleID(taskQueue string) string { return taskQueue + "-reconcile" }

// OrderInput starts an order's workflow.
type OrderInput struct {
	OrderID uuid.UUID `json:"order_id"`
	// Snapshot is the state of an order that was just created. If nil, the workflow loads it from
	// the database, as a late start or a revival does.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
}

// Snapshot is the part of an order that its workflow needs. It holds ids, never personal data.
type Snapshot struct {
	models.State
	Seq          int       `json:"seq"`
	GuideCode    string    `json:"guide_code"`
	AutoCancelAt time.Time `json:"auto_cancel_at"`
	// Decision is what waits to be decided after a failed attempt.
	Decision *Decision `json:"decision,omitempty"`
	// Calls are the webhook calls whose first attempt the workflow has to begin.
	Calls []WebhookCall `json:"calls,omitempty"`
	// ResolveMapLink is true if a short map link has to be resolved.
	ResolveMapLink bool `json:"resolve_map_link,omitempty"`
	// VerifyIdentity is true if the recipient's DNI has to be verified.
	VerifyIdentity bool `json:"verify_identity,omitempty"`
}

// Decision is what comes next after a failed attempt, unless somebody decides otherwise in time.
type Decision struct {
	Due time.Time `json:"due"`
	// Move is MoveRetry or MoveReturn.
	Move models.Move `json:"move"`
}

// WebhookCall is an event for one webhook. Of the webhook's URL it holds only the host, for the
// Temporal UI: the rest may hold a secret.
type WebhookCall struct {
	// ID is the id of its row.
	ID    uuid.UUID    `json:"id"`
	Event models.Event `json:"event"`
	Host  string       `json:"host"`
}

// ApplyMoveInput is a decided move, to be written to the database.
type ApplyMoveInput struct {
	OrderID uuid.UUID `json:"order_id"`
	// EntryID is the id of the timeline entry. It is the same in every attempt at the same move, so
	// that a retry is recognised.
	EntryID uuid.UUID     `json:"entry_id"`
	Seq     int           `json:"seq"`
	Move    models.Move   `json:"move"`
	By      models.Actor  `json:"by"`
	To      models.Status `json:"to"`
	// Substatus is that after the move.
	Substatus models.Substatus `json:"substatus,omitempty"`
	At        time.Time        `json:"at"`
	// Message is what was requested; empty for the timer's auto-cancel.
	Message models.Message `json:"message,omitzero"`
}

// ApplyMoveResult is the outcome of writing a move.
type ApplyMoveResult struct {
	// Calls are the webhook calls of the move's event whose first attempt the workflow has to begin.
	Calls []WebhookCall `json:"calls,omitempty"`
	// Refused is why the move was not written although the transition table allows it, for example
	// an unknown rider.
	Refused string `json:"refused,omitempty"`
	// Decision is what the move has left to be decided.
	Decision *Decision `json:"decision,omitempty"`
	// Current is the order's actual state, if it was moved outside this run or a move was taken back.
	Current *Snapshot `json:"current,omitempty"`
	// Written means that the move is written, and Current is the state since: an answer or a workflow
	// task was lost, or a move was taken back.
	Written bool `json:"written,omitempty"`
}
