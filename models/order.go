package models

import (
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
)

// PaymentType says whether the rider collects money.
type PaymentType string

// The payment types of an order.
const (
	CashOnDelivery PaymentType = "cash_on_delivery"
	DeliveryOnly   PaymentType = "delivery_only"
)

// DeliveryType says where the package is handed over.
type DeliveryType string

// The delivery types of an order.
const (
	DeliveryHome   DeliveryType = "home"
	DeliveryAgency DeliveryType = "agency"
)

// DocType is the kind of the recipient's document.
type DocType string

// The document types of a recipient. Only a DNI is ever verified.
const (
	DocDNI      DocType = "dni"
	DocCE       DocType = "ce"
	DocPassport DocType = "passport"
	DocOther    DocType = "other"
)

// Order is the row of one order. Only the order's workflow changes its status.
type Order struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	BranchID   uuid.UUID
	// Test means that a test key created the order: there is no package.
	Test      bool
	GuideCode string
	// ExternalID is the store's own number of the order. Orders may share one.
	ExternalID *string
	Status     Status
	// Substatus says what became of the latest failed attempt; nil if there is nothing to say.
	Substatus *Substatus
	// Seq counts the order's moves; the creation is 1. A move is written only if Seq is one less.
	Seq int

	RecipientName    string
	RecipientPhone   string
	RecipientDocType *DocType
	// RecipientDocNumber is the document number of a request. A row has RecipientDocEncrypted, the
	// number encrypted for this order.
	RecipientDocNumber    *string `gorm:"-"`
	RecipientDocEncrypted []byte
	// RecipientDocVerified is nil until the document was looked up; true only if the registry has
	// the DNI under the recipient's name.
	RecipientDocVerified *bool
	// DocOutcome is the outcome of the lookup, and DocNameMatches whether the name agrees.
	DocOutcome     *string
	DocNameMatches *bool

	DeliveryType      DeliveryType
	DeliveryAddress   string
	DeliveryReference *string
	LocationID        uuid.UUID
	DeliveryLat       *float64
	DeliveryLng       *float64
	DeliveryMapsURL   *string `gorm:"column:delivery_maps_url"`
	// PointSource says where the point came from: given, operator, or the part of the map link that
	// held it.
	PointSource *string

	Product string
	Size    string
	Notes   *string

	// SearchText is the normalized text that searches match.
	SearchText string

	AmountToCollect       money.Cents  `gorm:"column:amount_to_collect_cents"`
	ActualAmountCollected *money.Cents `gorm:"column:actual_amount_collected_cents"`
	ShippingCost          money.Cents  `gorm:"column:shipping_cost_cents"`
	Currency              string
	PaymentType           PaymentType

	// OperativeDay is a date YYYY-MM-DD in the operator's time zone.
	OperativeDay string
	RiskZone     *string
	RiderID      *uuid.UUID

	// Attempts are the deliveries that failed. NextAttemptOn is the date YYYY-MM-DD of the next
	// one, and DecisionDeadline is until when somebody decides about it.
	Attempts         Attempts `gorm:"type:text"`
	NextAttemptOn    *string
	DecisionDeadline *time.Time

	// ReturnFee is what the way back to the store costs it, once the package is there.
	ReturnFee money.Cents `gorm:"column:return_fee_cents"`

	// Collections are by which ways what was collected, and ReceivedBy is who took the package.
	Collections Collections `gorm:"type:text"`
	ReceivedBy  *string

	ProofPhoto      *string
	ProofCapturedAt *time.Time
	ProofLat        *float64
	ProofLng        *float64

	CancelledBy  *Actor
	CancelReason *string
	CancelNote   *string

	AutoCancelAt time.Time
	// WorkflowStartedAt is when a workflow was confirmed to be running at the current Seq; nil if
	// unconfirmed.
	WorkflowStartedAt *time.Time

	CreatedAt  time.Time
	ReceivedAt *time.Time
	AssignedAt *time.Time
	// LoadedAt is when the rider has confirmed to have the package.
	LoadedAt    *time.Time
	DeliveredAt *time.Time
	CancelledAt *time.Time
	UpdatedAt   time.Time
	// ErasedAt is when the recipient's data was erased.
	ErasedAt *time.Time
}

// What replaces a recipient's data when it is erased. The phone has the form of every other; no
// country has the code 999.
const (
	ErasedText  = "(eliminado)"
	ErasedPhone = "+999000000000"
)

// State is the part of the order that decides its moves.
func (o *Order) State() State {
	state := State{Status: o.Status, RiderID: o.RiderID}
	if o.Substatus != nil {
		state.Substatus = *o.Substatus
	}
	if o.CancelledBy != nil {
		state.CancelledBy = *o.CancelledBy
	}
	return state
}

// NeedsIdentityCheck reports whether the recipient's DNI has not been verified, or the last lookup
// was inconclusive. Other documents are stored as declared.
func (o *Order) NeedsIdentityCheck() bool {
	return o.RecipientDocType != nil && *o.RecipientDocType == DocDNI &&
		o.RecipientDocEncrypted != nil &&
		(o.RecipientDocVerified == nil || o.docCheckInconclusive())
}

// docCheckInconclusive reports whether the last lookup of the document got no answer.
func (o *Order) docCheckInconclusive() bool {
	return o.DocOutcome != nil && (*o.DocOutcome == "unavailable" || *o.DocOutcome == "quota_or_credentials")
}

// OrderView is an order with the names of its location and rider.
type OrderView struct {
	Order        `gorm:"embedded"`
	LocationName string
	RiderName    *string
	RiderPhone   *string
}

// OrderDetail is an OrderView with the names of its store and branch.
type OrderDetail struct {
	OrderView  `gorm:"embedded"`
	StoreName  *string
	BranchName string
}

// TimelineEntry is an entry of the order's timeline. Moves have a Seq; other entries, such as a
// resolved map link, have none and are shown only to the operator.
type TimelineEntry struct {
	ID      uuid.UUID
	OrderID uuid.UUID
	Seq     *int
	Type    string
	Status  Status
	By      string `gorm:"column:actor"`
	// UserID or KeyID is who requested a move; a move from the Temporal UI has neither. RiderID is the
	// rider of an assignment.
	UserID  *uuid.UUID
	KeyID   *uuid.UUID
	RiderID *uuid.UUID
	Detail  *string
	At      time.Time
	// OccurredAt is when a rider has made the move, if the service heard of it later. ClockOff is
	// by how many seconds the clock of the phone was wrong, if by much.
	OccurredAt *time.Time
	ClockOff   *int
	// Photo is the name of the photo of a move, or of an act of a rider that was refused.
	Photo *string
	// Before is what the move has changed in the order, as JSON, of a move that can be taken back.
	Before *string
}

// TableName is not derived from the name of the type.
func (TimelineEntry) TableName() string { return "order_events" }

// TimelineView is a timeline entry with the names of those it is about.
type TimelineView struct {
	TimelineEntry `gorm:"embedded"`
	UserName      *string
	KeyName       *string
	RiderName     *string
}

// Types of timeline entries that are not named after a move.
const (
	TimelineCreated         = "created"
	TimelinePointResolved   = "point_resolved"
	TimelinePointUnresolved = "point_unresolved"
	// TimelinePointCompleted and TimelinePointCorrected are points that the operator set.
	TimelinePointCompleted = "point_completed"
	TimelinePointCorrected = "point_corrected"
	// TimelineCorrected is a correction of other fields, which Detail names, and
	// TimelineDeliveryCorrected one of what was recorded at the delivery; its Detail is the reason.
	TimelineCorrected         = "corrected"
	TimelineDeliveryCorrected = "delivery_corrected"
	// TimelineActRefused is what a rider did in the street and the order no longer allowed; its Detail
	// says why.
	TimelineActRefused = "act_refused"
)

// BySystem is the actor of timeline entries that are not moves.
const BySystem = "system"

// Where a point came from, if not from a map link.
const (
	PointGiven      = "given"
	PointByOperator = "operator"
)
