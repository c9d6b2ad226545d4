// Package workflows is an order's life. Nothing here knows of HTTP or of the database: workflows
// decide, activities do.
package workflows

import (
	"net/url"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/money"
	"despacho/models"
)

// Names of the workflows, as the Temporal UI shows them.
const (
	OrderWorkflowName      = "Order"
	DeliveryWorkflowName   = "WebhookDelivery"
	RedeliveryWorkflowName = "WebhookRedelivery"
	ReconcileWorkflowName  = "Reconcile"
)

// Names of the signals and updates of an order: each is both.
const (
	CancelName    = string(models.MoveCancel)
	ReceivedName  = string(models.MoveReceive)
	AssignedName  = string(models.MoveAssign)
	DeliveredName = string(models.MoveDeliver)
)

// RefreshName is the signal that tells an order's workflow to look how the order stands in the
// database.
const RefreshName = "refresh"

// Names of the activities.
const (
	LoadOrderActivity         = "LoadOrder"
	ApplyMoveActivity         = "ApplyMove"
	SendWebhookActivity       = "SendWebhook"
	ResendWebhookActivity     = "ResendWebhook"
	ResolveMapLinkActivity    = "ResolveMapLink"
	VerifyIdentityActivity    = "VerifyIdentity"
	StartMissingActivity      = "StartMissingOrders"
	DriveDeliveriesActivity   = "DriveAbandonedDeliveries"
	ClearExpiredActivity      = "ClearExpiredRecords"
	refusedErrorType          = "MoveRefused"
	webhookFailedErrorType    = "WebhookFailed"
	reconcileScheduleIDSuffix = "-reconcile"
)

// Search attributes of an order's workflow, set when it starts.
var (
	GuideCodeAttribute = temporal.NewSearchAttributeKeyKeyword("DespachoGuideCode")
	OperatorAttribute  = temporal.NewSearchAttributeKeyKeyword("DespachoOperator")
	StoreAttribute     = temporal.NewSearchAttributeKeyKeyword("DespachoStore")
)

// SearchAttributes lists the attributes a namespace must have, for whoever registers them.
func SearchAttributes() map[string]string {
	return map[string]string{
		GuideCodeAttribute.GetName(): "Keyword",
		OperatorAttribute.GetName():  "Keyword",
		StoreAttribute.GetName():     "Keyword",
	}
}

// OrderWorkflowID is the id of an order's workflow.
func OrderWorkflowID(orderID uuid.UUID) string { return "order-" + orderID.String() }

// DeliveryWorkflowID is the id of the workflow that sends one delivery outside its order's.
func DeliveryWorkflowID(deliveryID uuid.UUID) string { return "delivery-" + deliveryID.String() }

// RedeliveryWorkflowID is the id of the workflow that sends again, at a person's wish, one delivery
// or what failed at one webhook.
func RedeliveryWorkflowID(id uuid.UUID) string { return "redelivery-" + id.String() }

// ReconcileScheduleID is the id of the schedule that looks after what fell through.
func ReconcileScheduleID(taskQueue string) string { return taskQueue + reconcileScheduleIDSuffix }

// OrderInput starts an order's workflow.
type OrderInput struct {
	OrderID uuid.UUID `json:"order_id"`
	// Snapshot is how the order stands when whoever starts the workflow has just created it. Nil:
	// the workflow reads it from the database, which is what a late start or a revival does.
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
	// Deliveries are webhooks still to be called.
	Deliveries []WebhookDeliveryRef `json:"deliveries,omitempty"`
	// ResolveMapLink says that a short map link has yet to be followed.
	ResolveMapLink bool `json:"resolve_map_link,omitempty"`
	// VerifyIdentity says that the recipient's DNI has yet to be checked.
	VerifyIdentity bool `json:"verify_identity,omitempty"`
}

func (s *Snapshot) state() models.State {
	return models.State{Status: s.Status, CancelledBy: s.CancelledBy, RiderID: s.RiderID}
}

// WebhookDeliveryRef names one webhook call: enough to make it in its turn and to show it in the
// Temporal UI. Of the webhook's address it holds the host alone: the rest may hold a secret.
type WebhookDeliveryRef struct {
	ID        uuid.UUID    `json:"id"`
	WebhookID uuid.UUID    `json:"webhook_id"`
	Event     models.Event `json:"event"`
	Host      string       `json:"host"`
	Retry     bool         `json:"retry,omitempty"`
}

// HostOf is the part of a webhook's address that may be shown.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// Cancel asks to cancel an order. From a signal it counts as the operator's.
type Cancel struct {
	Reason string       `json:"reason,omitempty"`
	Note   string       `json:"note,omitempty"`
	By     models.Actor `json:"by,omitempty"`
	// OnlyRegistered holds the cancel to what the API may do: nothing once the package has reached
	// the operator.
	OnlyRegistered bool `json:"only_registered,omitempty"`
}

// Received says that the package reached the operator; BranchID is where, if not where it was
// expected.
type Received struct {
	BranchID *uuid.UUID `json:"branch_id,omitempty"`
}

// Assigned gives the package to a rider.
type Assigned struct {
	RiderID uuid.UUID `json:"rider_id"`
}

// Delivered says that the package was handed over.
type Delivered struct {
	ActualAmountCollected *money.Cents `json:"actual_amount_collected,omitempty"`
	Photo                 string       `json:"photo,omitempty"`
	CapturedAt            *time.Time   `json:"captured_at,omitempty"`
	Lat                   *float64     `json:"lat,omitempty"`
	Lng                   *float64     `json:"lng,omitempty"`
}

// ApplyMoveInput is one decided move for the database.
type ApplyMoveInput struct {
	OrderID uuid.UUID `json:"order_id"`
	// EntryID is the id of the timeline entry: the same in every try of the same move, so that a
	// retry is recognised.
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
}

// ApplyMoveResult is what the database made of a move.
type ApplyMoveResult struct {
	// Deliveries are the webhooks to call for it.
	Deliveries []WebhookDeliveryRef `json:"deliveries,omitempty"`
	// Refused is why it was not written though the table allows it, for example an unknown rider.
	Refused string `json:"refused,omitempty"`
	// Current is how the order really stands, when another run has moved it meanwhile.
	Current *Snapshot `json:"current,omitempty"`
}
