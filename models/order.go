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

// Order is one package on its way: the row everybody reads and only the order's workflow moves.
type Order struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	BranchID   uuid.UUID
	GuideCode  string
	Status     Status
	// Seq numbers the moves of the order; the creation is 1. A move is written only on top of the
	// one before it.
	Seq int

	RecipientName      string
	RecipientPhone     string
	RecipientDocType   *DocType
	RecipientDocNumber *string
	// RecipientDocVerified is nil until somebody was asked; true only when the registry knows the
	// DNI under the recipient's name.
	RecipientDocVerified *bool
	// DocOutcome is what the registry said, and DocNameMatches whether the name agrees with it.
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

	// SearchText is what people look for an order by, folded.
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

	ProofPhoto      *string
	ProofCapturedAt *time.Time
	ProofLat        *float64
	ProofLng        *float64

	CancelledBy  *Actor
	CancelReason *string
	CancelNote   *string

	AutoCancelAt time.Time
	// WorkflowStartedAt is when a workflow was known to carry the order as it stands; nil where
	// that is not known.
	WorkflowStartedAt *time.Time

	CreatedAt   time.Time
	ReceivedAt  *time.Time
	AssignedAt  *time.Time
	DeliveredAt *time.Time
	CancelledAt *time.Time
	UpdatedAt   time.Time
}

// State is the part of the order that decides its moves.
func (o *Order) State() State {
	state := State{Status: o.Status, RiderID: o.RiderID}
	if o.CancelledBy != nil {
		state.CancelledBy = *o.CancelledBy
	}
	return state
}

// AwaitsIdentity reports whether the recipient's DNI has yet to be checked: asked about, but
// without an answer so far. Other documents are kept as declared.
func (o *Order) AwaitsIdentity() bool {
	return o.RecipientDocType != nil && *o.RecipientDocType == DocDNI && o.RecipientDocNumber != nil &&
		(o.RecipientDocVerified == nil || o.docUnanswered())
}

// docUnanswered reports whether somebody was asked about the document and could not say.
func (o *Order) docUnanswered() bool {
	return o.DocOutcome != nil && (*o.DocOutcome == "unavailable" || *o.DocOutcome == "quota_or_credentials")
}

// OrderView is an order with the names that a reader needs beside it.
type OrderView struct {
	Order        `gorm:"embedded"`
	LocationName string
	RiderName    *string
	RiderPhone   *string
}

// OrderDetail is an OrderView with the names that only a page about the order itself shows.
type OrderDetail struct {
	OrderView  `gorm:"embedded"`
	StoreName  *string
	BranchName string
}

// TimelineEntry is an entry of the order's timeline. Moves have a Seq; what happens beside them,
// such as a resolved map link, has none and is shown to the operator alone.
type TimelineEntry struct {
	ID      uuid.UUID
	OrderID uuid.UUID
	Seq     *int
	Type    string
	Status  Status
	By      string `gorm:"column:actor"`
	Detail  *string
	At      time.Time
}

// TableName is the name from before the type's.
func (TimelineEntry) TableName() string { return "order_events" }

// Types of timeline entries that are not named after a move: the first of every timeline, and what
// map links leave for the operator.
const (
	TimelineCreated         = "created"
	TimelinePointResolved   = "point_resolved"
	TimelinePointUnresolved = "point_unresolved"
)

// BySystem is who writes what happens beside the moves.
const BySystem = "system"

// Where a point came from, if not from a map link.
const (
	PointGiven      = "given"
	PointByOperator = "operator"
)
