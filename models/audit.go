package models

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// AuditAction is what an entry of the audit log records.
type AuditAction string

// The actions of the audit log. The moves of orders are in their timelines instead.
const (
	AuditSignIn          AuditAction = "session.created"
	AuditSignInFailed    AuditAction = "session.failed"
	AuditSignInBlocked   AuditAction = "session.blocked"
	AuditSignOut         AuditAction = "session.ended"
	AuditPasswordChanged AuditAction = "password.changed"
	AuditPasswordReset   AuditAction = "user.password_reset"
	AuditResetStarted    AuditAction = "user.reset_started"

	AuditSecondFactorAdded   AuditAction = "second_factor.added"
	AuditSecondFactorRemoved AuditAction = "second_factor.removed"
	AuditSecondFactorReset   AuditAction = "user.second_factor_reset"

	AuditKeyRevoked     AuditAction = "key.revoked"
	AuditWebhookCreated AuditAction = "webhook.created"
	AuditWebhookChanged AuditAction = "webhook.changed"
	AuditWebhookRotated AuditAction = "webhook.rotated"
	AuditWebhookRemoved AuditAction = "webhook.removed"

	AuditDeviceLinked    AuditAction = "rider_device.linked"
	AuditDeviceActivated AuditAction = "rider_device.activated"
	AuditDeviceRevoked   AuditAction = "rider_device.revoked"
	AuditDeviceLocked    AuditAction = "rider_device.locked"

	AuditSettingsChanged  AuditAction = "settings.changed"
	AuditCoverageRemoved  AuditAction = "coverage.removed"
	AuditCoverageReplaced AuditAction = "coverage.replaced"
	AuditPriceRemoved     AuditAction = "store_price.removed"
	AuditPlanChanged      AuditAction = "operator.plan_changed"
	AuditSuspended        AuditAction = "operator.suspended"
	AuditResumed          AuditAction = "operator.resumed"

	AuditPointSet          AuditAction = "order.point_set"
	AuditCorrected         AuditAction = "order.corrected"
	AuditDeliveryCorrected AuditAction = "order.delivery_corrected"
	AuditErased            AuditAction = "order.erased"

	AuditHandedIn         AuditAction = "cash.handed_in"
	AuditAdjusted         AuditAction = "cash.adjusted"
	AuditSettlementIssued AuditAction = "settlement.issued"
	AuditSettlementPaid   AuditAction = "settlement.paid"
)

// What an operator manages is created and changed in the same way; the action names the kind.
const (
	AuditCreated = ".created"
	AuditChanged = ".changed"
)

// Repeatable reports whether the action changes what an operator or a store has set up, which can
// be repeated without end. What ends somebody's access is not among them.
func (a AuditAction) Repeatable() bool {
	switch a {
	case AuditWebhookCreated, AuditWebhookChanged, AuditWebhookRotated, AuditSettingsChanged, AuditCoverageReplaced,
		AuditDeviceLinked:
		return true
	}
	return a != "user"+AuditChanged && slices.Contains(kindActions(), a)
}

// Audited is a row whose creation and changes are in the audit log.
type Audited interface {
	// AuditSubject is what the entry is about. The kind is one of auditKinds.
	AuditSubject() (kind string, operatorID, id uuid.UUID)
}

func (b Branch) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "branch", b.OperatorID, b.ID
}
func (s Store) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "store", s.OperatorID, s.ID
}
func (r Rider) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "rider", r.OperatorID, r.ID
}
func (s Size) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "size", s.OperatorID, s.ID
}
func (k APIKey) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "key", k.OperatorID, k.ID
}
func (u User) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "user", u.OperatorID, u.ID
}

// AuditSubject is about the location: a row of it may be replaced by another.
func (c Coverage) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "coverage", c.OperatorID, c.LocationID
}

// AuditSubject is about the store: a price of it has no name.
func (p StorePrice) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "store_price", p.OperatorID, p.StoreID
}

func (z RiskZone) AuditSubject() (kind string, operatorID, id uuid.UUID) {
	return "risk_zone", z.OperatorID, z.ID
}

// auditKinds are the kinds of what an operator creates and changes.
var auditKinds = []string{"store", "rider", "branch", "size", "coverage", "store_price", "risk_zone", "key", "user"}

// AuditActions lists every action.
var AuditActions = append([]AuditAction{
	AuditSignIn, AuditSignInFailed, AuditSignInBlocked, AuditSignOut, AuditPasswordChanged, AuditPasswordReset, AuditResetStarted,
	AuditSecondFactorAdded, AuditSecondFactorRemoved, AuditSecondFactorReset,
	AuditKeyRevoked, AuditWebhookCreated, AuditWebhookChanged, AuditWebhookRotated, AuditWebhookRemoved,
	AuditDeviceLinked, AuditDeviceActivated, AuditDeviceRevoked, AuditDeviceLocked,
	AuditSettingsChanged, AuditCoverageRemoved, AuditCoverageReplaced, AuditPriceRemoved, AuditPlanChanged, AuditSuspended, AuditResumed,
	AuditPointSet, AuditCorrected, AuditDeliveryCorrected, AuditErased,
	AuditHandedIn, AuditAdjusted, AuditSettlementIssued, AuditSettlementPaid,
}, kindActions()...)

func kindActions() []AuditAction {
	var actions []AuditAction
	for _, kind := range auditKinds {
		actions = append(actions, AuditAction(kind+AuditCreated))
		if kind != "key" {
			actions = append(actions, AuditAction(kind+AuditChanged))
		}
	}
	return actions
}

// AuditEntry is an entry of the audit log: who did what, from where and on what. It holds ids, no
// personal data, and is never changed.
type AuditEntry struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	At         time.Time
	Action     AuditAction
	// UserID or KeyID is who did it; both are nil for the command line.
	UserID *uuid.UUID
	KeyID  *uuid.UUID
	// Address is the client's IP address.
	Address *string
	// SubjectID is what the action was about.
	SubjectID *uuid.UUID
	// Detail is what changed: names of fields, never their values. Only a correction of the amount
	// that was collected has both amounts, which tell nothing about a person.
	Detail    *string
	KeepUntil time.Time
}

// TableName is not derived from the name of the type.
func (AuditEntry) TableName() string { return "audit_log" }

// AuditView is an entry with the names of those it is about.
type AuditView struct {
	AuditEntry  `gorm:"embedded"`
	UserName    *string
	KeyName     *string
	SubjectName *string
}
