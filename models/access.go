package models

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
)

// Scope is a permission of an API key.
type Scope string

// The scopes of an API key.
const (
	ScopeReadOrders      Scope = "read:orders"
	ScopeWriteOrders     Scope = "write:orders"
	ScopeReadStores      Scope = "read:stores"
	ScopeManageWebhooks  Scope = "manage:webhooks"
	ScopeReadSettlements Scope = "read:settlements"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeReadOrders, ScopeWriteOrders, ScopeReadStores, ScopeManageWebhooks, ScopeReadSettlements}

// JoinSpaced encodes scopes or grants for storage, separated by spaces.
func JoinSpaced[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = string(word)
	}
	return strings.Join(words, " ")
}

// SplitSpaced decodes what JoinSpaced encoded.
func SplitSpaced[T ~string](stored string) []T {
	list := []T{}
	for word := range strings.FieldsSeq(stored) {
		list = append(list, T(word))
	}
	return list
}

// APIKey is an API key. Only its hash is stored; prefix and last4 are for display.
type APIKey struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	// Test means that the key creates and sees test orders only.
	Test      bool
	Name      string
	Prefix    string
	Last4     string `gorm:"column:last4"`
	Hash      []byte
	Scopes    string
	CreatedAt time.Time
	ExpiresAt *time.Time
	RevokedAt *time.Time
	// LastUsedAt is at most a minute older than the latest use; LastUsedFrom is the client's address.
	LastUsedAt   *time.Time
	LastUsedFrom *string
}

// TableName is spelled out because GORM would write a_p_i_keys.
func (APIKey) TableName() string { return "api_keys" }

// Issue generates the key, stores its hash and returns the plain text, which is not stored.
func (k *APIKey) Issue() (plain string, err error) {
	k.Prefix = credentials.LiveKeyPrefix
	if k.Test {
		k.Prefix = credentials.TestKeyPrefix
	}
	if plain, err = credentials.NewAPIKey(k.Prefix); err != nil {
		return "", err
	}
	k.Last4, k.Hash = plain[len(plain)-4:], credentials.Hash(plain)
	return plain, nil
}

// HasScope reports whether the key has the scope.
func (k *APIKey) HasScope(scope Scope) bool {
	return slices.Contains(SplitSpaced[Scope](k.Scopes), scope)
}

// Usable reports whether the key is neither revoked nor expired at the given time.
func (k *APIKey) Usable(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Role is the role of a panel user.
type Role string

// The roles of the panel.
const (
	RoleOperator Role = "operator"
	RoleStore    Role = "store"
)

// User is a panel user.
type User struct {
	ID           uuid.UUID
	OperatorID   uuid.UUID
	StoreID      *uuid.UUID
	Email        string
	Name         string
	PasswordHash string
	Role         Role
	// Admin has every grant. Grants are those of other users of the operator, separated by spaces.
	Admin     bool
	Grants    string
	Active    bool
	CreatedAt time.Time
	// TOTPSecret is encrypted. It counts once TOTPConfirmedAt is set.
	TOTPSecret      []byte     `gorm:"column:totp_secret"`
	TOTPConfirmedAt *time.Time `gorm:"column:totp_confirmed_at"`
	// TOTPLastStep is the time step of the latest code that was used.
	TOTPLastStep int64 `gorm:"column:totp_last_step"`
}

// HasSecondFactor reports whether the user signs in with a code besides the password.
func (u *User) HasSecondFactor() bool { return u.TOTPConfirmedAt != nil }

// Administers reports whether the user may manage the operator's other users.
func (u *User) Administers() bool { return u.Role == RoleOperator && u.Admin && u.Active }

// HasGrant reports whether the user may do the work of a grant.
func (u *User) HasGrant(grant Grant) bool {
	return u.Administers() || u.Role == RoleOperator && slices.Contains(SplitSpaced[Grant](u.Grants), grant)
}

// Session is the session of a signed-in user. Only the token's hash is stored.
type Session struct {
	ID        uuid.UUID
	UserID    uuid.UUID
	TokenHash []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// RecoveryCode replaces a code of the second factor, once: using it deletes the row.
type RecoveryCode struct {
	UserID uuid.UUID `gorm:"primaryKey"`
	Hash   []byte    `gorm:"primaryKey"`
}

// PasswordReset lets whoever has its token choose the user's password, once. Only the token's hash
// is stored.
type PasswordReset struct {
	UserID    uuid.UUID `gorm:"primaryKey"`
	TokenHash []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// RiderDevice is the phone of a rider, or the link that makes a phone the rider's. Only hashes of
// the link, of the phone's token and of the rider's PIN are stored.
type RiderDevice struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	RiderID    uuid.UUID
	// LinkHash is nil once the link was used; TokenHash and PINHash are nil until then.
	LinkHash      []byte
	LinkExpiresAt time.Time
	TokenHash     []byte
	PINHash       *string `gorm:"column:pin_hash"`
	// PINFailures is how many wrong PINs were entered in a row.
	PINFailures int `gorm:"column:pin_failures"`
	// UnlockedUntil is until when the phone does not ask for the PIN.
	UnlockedUntil *time.Time
	CreatedAt     time.Time
	ActivatedAt   *time.Time
	// LastSeenAt is at most a minute older than the latest request.
	LastSeenAt *time.Time
	RevokedAt  *time.Time
}

// Unlocked reports whether the phone needs no PIN at the given time.
func (d *RiderDevice) Unlocked(now time.Time) bool {
	return d.UnlockedUntil != nil && now.Before(*d.UnlockedUntil)
}

// IdempotencyRecord stores the outcome of a creation under its Idempotency-Key. Until Response is
// set it is the lease of the request in progress.
type IdempotencyRecord struct {
	// ScopeID owns the key: the id of an API key or, in the panel, of a store or an operator.
	ScopeID    uuid.UUID `gorm:"primaryKey"`
	Key        string    `gorm:"primaryKey"`
	BodyHash   []byte
	LeaseToken uuid.UUID
	LeaseUntil time.Time
	// OrderID is the order that was created, and Response the response to its creation.
	OrderID   *uuid.UUID
	Response  []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// RateWindow counts the requests of one subject in one clock minute.
type RateWindow struct {
	Subject string `gorm:"primaryKey"`
	Minute  int64  `gorm:"primaryKey"`
	Used    int
}
