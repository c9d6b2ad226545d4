package models

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/photourl"
	"despacho/internal/textnorm"
)

// Plan is an operator's subscription; it decides whether the API may be used and its rate limit.
type Plan string

// The plans of an operator, from the smallest to the largest.
const (
	PlanBasic    Plan = "basic"
	PlanPro      Plan = "pro"
	PlanBusiness Plan = "business"
)

// Plans lists every plan.
var Plans = []Plan{PlanBasic, PlanPro, PlanBusiness}

// RequestsPerMinute is the rate limit of an API key per clock minute; 0 means the plan does not
// include the API.
func (p Plan) RequestsPerMinute() int {
	switch p {
	case PlanPro:
		return 100
	case PlanBusiness:
		return 1000
	}
	return 0
}

// ActiveKeys is how many active API keys an operator may have. Times RequestsPerMinute it bounds
// the requests of the whole operator.
func (p Plan) ActiveKeys() int {
	switch p {
	case PlanPro:
		return 10
	case PlanBusiness:
		return 50
	}
	return 5 // to prepare a change of plan: they answer 403 until then
}

// Operator is a delivery company: the tenant everything else belongs to.
type Operator struct {
	ID                 uuid.UUID
	Name               string
	CountryCode        string
	Timezone           string
	Currency           string
	Plan               Plan
	SuspendedAt        *time.Time
	BasePrice          *money.Cents `gorm:"column:base_price_cents"`
	ShareProofLocation bool
	// ShareProofPhoto shows the photo of a delivery on the tracking page.
	ShareProofPhoto bool
	// LogoURL is a link to the logo, LogoPhoto the name of an uploaded one. One of them is nil.
	LogoURL   *string `gorm:"column:logo_url"`
	LogoPhoto *string
	// RequireSecondFactor demands a second factor of the operator's administrators.
	RequireSecondFactor bool
	// Rules are how it wants attempts and deliveries.
	Rules Rules
	// SettingsVersion is incremented by every change to stores, their prices, branches, sizes,
	// coverage, risk zones or webhooks, and when the operator is suspended or resumed.
	SettingsVersion int64
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Suspended reports whether the operator is suspended.
func (o *Operator) Suspended() bool { return o.SuspendedAt != nil }

// Logo is the address of the operator's logo; nil if it has none. With an empty baseURL that of an
// uploaded one is a path.
func (o *Operator) Logo(baseURL string) *string {
	if o.LogoPhoto == nil {
		return o.LogoURL
	}
	address := photourl.Logo(baseURL, *o.LogoPhoto)
	return &address
}

// TimeZone is the operator's time zone. It was checked when the operator was created.
func (o *Operator) TimeZone() *time.Location {
	zone, err := time.LoadLocation(o.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Branch is a place where the operator receives packages.
type Branch struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	Main       bool
	Active     bool
	CreatedAt  time.Time
}

// Store is a shop whose packages the operator delivers.
type Store struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	Active     bool
	// The contacts are how customers reach the store; the tracking page shows them. Numbers are in
	// E.164.
	ContactPhone    *string
	ContactWhatsApp *string `gorm:"column:contact_whatsapp"`
	ContactEmail    *string
	// AttemptFee and ReturnFee are charged instead of those of the operator's rules; nil is those.
	AttemptFee *money.Cents `gorm:"column:attempt_fee_cents"`
	ReturnFee  *money.Cents `gorm:"column:return_fee_cents"`
	CreatedAt  time.Time
}

// Rider delivers packages for the operator.
type Rider struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	// Test means that the rider is not a person and delivers test orders only.
	Test      bool
	Name      string
	Phone     string
	Active    bool
	CreatedAt time.Time
}

// Size is a package size of the operator, with its surcharge.
type Size struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Code       string
	Name       string
	Surcharge  money.Cents `gorm:"column:surcharge_cents"`
	IsDefault  bool
	Active     bool
	CreatedAt  time.Time
}

// CompareStores orders stores by name, and those of the same name by age.
func CompareStores(a, b Store) int {
	return cmp.Or(textnorm.Compare(a.Name, b.Name), a.CreatedAt.Compare(b.CreatedAt), slices.Compare(a.ID[:], b.ID[:]))
}

// CompareBranches orders branches by name after the main one, and those of the same name by age.
func CompareBranches(a, b Branch) int {
	switch {
	case a.Main && !b.Main:
		return -1
	case b.Main && !a.Main:
		return 1
	}
	return cmp.Or(textnorm.Compare(a.Name, b.Name), a.CreatedAt.Compare(b.CreatedAt), slices.Compare(a.ID[:], b.ID[:]))
}

// CompareSizes orders sizes by surcharge, then by code.
func CompareSizes(a, b Size) int {
	return cmp.Or(cmp.Compare(a.Surcharge, b.Surcharge), cmp.Compare(a.Code, b.Code))
}

// Coverage says that the operator delivers to a location and everything below it, and at what price
// if not the base price.
type Coverage struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	LocationID uuid.UUID
	Price      *money.Cents `gorm:"column:price_cents"`
	CreatedAt  time.Time
}

// TableName is set because GORM would use the plural.
func (Coverage) TableName() string { return "coverage" }

// RiskZone marks risky destinations: a location with everything below it, words found in the
// address, or both.
type RiskZone struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	LocationID *uuid.UUID
	Words      string
	Active     bool
	CreatedAt  time.Time
}

// JoinWords encodes the expressions of a risk zone for storage, one per line.
func JoinWords(expressions []string) string { return strings.Join(expressions, "\n") }

// WordList decodes what JoinWords encoded.
func (z *RiskZone) WordList() []string {
	return strings.FieldsFunc(z.Words, func(r rune) bool { return r == '\n' })
}
