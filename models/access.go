package models

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
)

// Scope is something an API key may do.
type Scope string

// The scopes of an API key.
const (
	ScopeReadOrders     Scope = "read:orders"
	ScopeWriteOrders    Scope = "write:orders"
	ScopeReadStores     Scope = "read:stores"
	ScopeManageWebhooks Scope = "manage:webhooks"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeReadOrders, ScopeWriteOrders, ScopeReadStores, ScopeManageWebhooks}

// JoinScopes is the form scopes are stored in.
func JoinScopes(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

// SplitScopes reads the stored form.
func SplitScopes(stored string) []Scope {
	var scopes []Scope
	for word := range strings.FieldsSeq(stored) {
		scopes = append(scopes, Scope(word))
	}
	return scopes
}

// APIKey is a key of the API. Only its hash is kept; prefix and last4 are for display.
type APIKey struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	Name       string
	Prefix     string
	Last4      string `gorm:"column:last4"`
	Hash       []byte
	Scopes     string
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
}

// TableName is spelled out because GORM would write a_p_i_keys.
func (APIKey) TableName() string { return "api_keys" }

// Issue draws the key itself and keeps what may be kept of it. It is the only time the key is seen.
func (k *APIKey) Issue() (plain string, err error) {
	if plain, err = credentials.NewAPIKey(); err != nil {
		return "", err
	}
	k.Prefix, k.Last4, k.Hash = credentials.KeyPrefix, plain[len(plain)-4:], credentials.Hash(plain)
	return plain, nil
}

// May reports whether the key carries the scope.
func (k *APIKey) May(scope Scope) bool { return slices.Contains(SplitScopes(k.Scopes), scope) }

// Usable reports whether the key opens anything at the given time.
func (k *APIKey) Usable(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Role is what a panel user is.
type Role string

// The roles of the panel.
const (
	RoleOperator Role = "operator"
	RoleStore    Role = "store"
)

// User signs in to the panel.
type User struct {
	ID           uuid.UUID
	OperatorID   uuid.UUID
	StoreID      *uuid.UUID
	Email        string
	Name         string
	PasswordHash string
	Role         Role
	Admin        bool
	Active       bool
	CreatedAt    time.Time
}

// Administers reports whether the user may look after the operator's other users.
func (u *User) Administers() bool { return u.Role == RoleOperator && u.Admin && u.Active }

// Permission is who may use a part of the panel.
type Permission struct {
	// OperatorOnly keeps a store's users out.
	OperatorOnly bool
	// AdminOnly is for those of the operator's users who look after the others.
	AdminOnly bool
	// Writes are refused while the operator is suspended; reading goes on.
	Writes bool
}

// The permissions of the panel.
var (
	AnyUser       = Permission{}
	AnyUserWrite  = Permission{Writes: true}
	OperatorRead  = Permission{OperatorOnly: true}
	OperatorWrite = Permission{OperatorOnly: true, Writes: true}
	AdminRead     = Permission{AdminOnly: true}
	AdminWrite    = Permission{AdminOnly: true, Writes: true}
)

// Allows reports whether the user has the permission, as long as the operator is in good standing.
func (p Permission) Allows(u *User) bool {
	return (!p.OperatorOnly || u.Role == RoleOperator) && (!p.AdminOnly || u.Administers())
}

// Session is a signed-in user. Only the token's hash is kept.
type Session struct {
	ID        uuid.UUID
	UserID    uuid.UUID
	TokenHash []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// IdempotencyRecord remembers the answer to a creation under its Idempotency-Key. Until Response is
// set it is a lease of the request that is still processing.
type IdempotencyRecord struct {
	// ScopeID is whose key it is: an API key's or, in the panel, a store's or an operator's id.
	ScopeID    uuid.UUID `gorm:"primaryKey"`
	Key        string    `gorm:"primaryKey"`
	BodyHash   []byte
	LeaseToken uuid.UUID
	LeaseUntil time.Time
	StatusCode *int
	Location   *string
	Response   []byte
	CreatedAt  time.Time
	ExpiresAt  time.Time
}

// RateWindow counts the requests of one subject in one clock minute.
type RateWindow struct {
	Subject string `gorm:"primaryKey"`
	Minute  int64  `gorm:"primaryKey"`
	Used    int
}

// IdentityAnswer is what the registry said of a DNI, under a keyed hash of it and with the name
// encrypted.
type IdentityAnswer struct {
	Key       string `gorm:"primaryKey"`
	Outcome   string
	Name      []byte
	Provider  string
	ExpiresAt time.Time
}
