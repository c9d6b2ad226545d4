// Package workflows holds the Temporal workflows of orders and webhook deliveries. Workflows
// decide; activities do the I/O.
package workflows

import (
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// Names of the workflows, as the Temporal UI shows them.
const (
	OrderWorkflowName      = "Order"
	DeliveryWorkflowName   = "WebhookDelivery"
	RedeliveryWorkflowName = "WebhookRedelivery"
	SimulationWorkflowName = "Simulation"
	ReconcileWorkflowName  = "Reconcile"
)

// Names of the signals and updates of an order: each is both.
const (
	CancelName    = string(models.MoveCancel)
	ReceivedName  = string(models.MoveReceive)
	AssignedName  = string(models.MoveAssign)
	DeliveredName = string(models.MoveDeliver)
	// RefreshName makes an order's workflow reload the order from the database.
	RefreshName = "refresh"
)

// Types of the errors that activities and updates return.
const (
	refusedErrorType       = "MoveRefused"
	orderMissingErrorType  = "OrderMissing"
	notStoredErrorType     = "NotStored"
	webhookFailedErrorType = "WebhookFailed"
	noNextStepErrorType    = "NoNextStep"
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
		GuideCodeAttribute.GetName(): "Keyword",
		OperatorAttribute.GetName():  "Keyword",
		StoreAttribute.GetName():     "Keyword",
	}
}

// OrderWorkflowPrefix begins the ids of orders' workflows.
const OrderWorkflowPrefix = "order-"

// OrderWorkflowID is the id of an order's workflow.
func OrderWorkflowID(orderID uuid.UUID) string { return OrderWorkflowPrefix + orderID.String() }

const (
	simulationWorkflowPrefix = "simulation-"
	deliveryWorkflowPrefix   = "delivery-"
	redeliveryWorkflowPrefix = "redelivery-"
)

// SimulationWorkflowID is the id of the workflow that moves a test order.
func SimulationWorkflowID(orderID uuid.UUID) string {
	return simulationWorkflowPrefix + orderID.String()
}

// RedeliveryWorkflowID is the id of the workflow that resends, on request, one delivery or the
// failed deliveries of one webhook.
func RedeliveryWorkflowID(id uuid.UUID) string { return redeliveryWorkflowPrefix + id.String() }

// SubjectOf returns the id of the order, delivery or webhook that a workflow is about, from the
// workflow's id. It returns false for the reconcile workflow and for other ids.
func SubjectOf(workflowID string) (uuid.UUID, bool) {
	for _, prefix := range []string{OrderWorkflowPrefix, simulationWorkflowPrefix, deliveryWorkflowPrefix, redeliveryWorkflowPrefix} {
		if subject, ok := strings.CutPrefix(workflowID, prefix); ok {
			id, err := uuid.Parse(subject)
			return id, err == nil && id.String() == subject
		}
	}
	return uuid.Nil, false
}

// OperatorPriority is the priority of an operator's workflows, which their activities inherit. A
// Temporal server with fairness dispatches the tasks of all operators in turn; one without it
// ignores the key.
func OperatorPriority(operatorID uuid.UUID) temporal.Priority {
	return temporal.Priority{FairnessKey: operatorID.String()}
}

// OutQueue is the task queue of the activities that leave the house: webhook calls, map links and
// identity checks. TaskQueue has everything else.
func OutQueue(taskQueue string) string { return taskQueue + "-out" }

// outQueue is the OutQueue of the installation that a workflow belongs to.
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
	Status       models.Status `json:"status"`
	CancelledBy  models.Actor  `json:"cancelled_by,omitempty"`
	RiderID      *uuid.UUID    `json:"rider_id,omitempty"`
	Seq          int           `json:"seq"`
	GuideCode    string        `json:"guide_code"`
	AutoCancelAt time.Time     `json:"auto_cancel_at"`
	// Deliveries are the pending webhook deliveries.
	Deliveries []WebhookDeliveryRef `json:"deliveries,omitempty"`
	// MoreDeliveries means that there may be more pending deliveries than Deliveries has.
	MoreDeliveries bool `json:"more_deliveries,omitempty"`
	// ResolveMapLink is true if a short map link has to be resolved.
	ResolveMapLink bool `json:"resolve_map_link,omitempty"`
	// VerifyIdentity is true if the recipient's DNI has to be verified.
	VerifyIdentity bool `json:"verify_identity,omitempty"`
}

func (s *Snapshot) state() models.State {
	return models.State{Status: s.Status, CancelledBy: s.CancelledBy, RiderID: s.RiderID}
}

// WebhookDeliveryRef identifies a webhook delivery. Of the webhook's URL it holds only the host,
// for the Temporal UI: the rest may hold a secret.
type WebhookDeliveryRef struct {
	ID        uuid.UUID    `json:"id"`
	WebhookID uuid.UUID    `json:"webhook_id"`
	Event     models.Event `json:"event"`
	Host      string       `json:"host"`
	Retry     bool         `json:"retry,omitempty"`
}

// Summary names the delivery in the Temporal UI.
func (d WebhookDeliveryRef) Summary() string { return Summary(string(d.Event) + " → " + d.Host) }

// HostOf is the host of a webhook's URL, the only part that may be shown.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// ApplyMoveInput is a decided move, to be written to the database.
type ApplyMoveInput struct {
	OrderID uuid.UUID `json:"order_id"`
	// EntryID is the id of the timeline entry. It is the same in every attempt at the same move, so
	// that a retry is recognised.
	EntryID   uuid.UUID     `json:"entry_id"`
	Seq       int           `json:"seq"`
	Move      models.Move   `json:"move"`
	By        models.Actor  `json:"by"`
	To        models.Status `json:"to"`
	At        time.Time     `json:"at"`
	Cancel    *Cancel       `json:"cancel,omitempty"`
	Received  *Received     `json:"received,omitempty"`
	Assigned  *Assigned     `json:"assigned,omitempty"`
	Delivered *Delivered    `json:"delivered,omitempty"`
	// Deadline is the time after which the move must not be made; nil if there is none.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Requester is who requested the move by an update.
	Requester Requester `json:"requester,omitzero"`
}

// ApplyMoveResult is the outcome of writing a move.
type ApplyMoveResult struct {
	// Deliveries are the webhook deliveries of the move's event.
	Deliveries []WebhookDeliveryRef `json:"deliveries,omitempty"`
	// MoreDeliveries means that there are more of them than Deliveries has.
	MoreDeliveries bool `json:"more_deliveries,omitempty"`
	// Refused is why the move was not written although the transition table allows it, for example
	// an unknown rider.
	Refused string `json:"refused,omitempty"`
	// Current is the order's actual state, if it was moved outside this run.
	Current *Snapshot `json:"current,omitempty"`
}
