package models

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
)

// Plan is what an operator pays for; it decides whether the API may be used and how often.
type Plan string

// The plans of an operator, from the smallest to the largest.
const (
	PlanBasic    Plan = "basic"
	PlanPro      Plan = "pro"
	PlanBusiness Plan = "business"
)

// Plans lists every plan.
var Plans = []Plan{PlanBasic, PlanPro, PlanBusiness}

// RequestsPerMinute is how many API requests a key of the plan may make in a clock minute; 0 means
// the plan does not include the API.
func (p Plan) RequestsPerMinute() int {
	switch p {
	case PlanPro:
		return 100
	case PlanBusiness:
		return 1000
	}
	return 0
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
	LogoURL            *string `gorm:"column:logo_url"`
	// SettingsVersion grows with every change to stores, branches, sizes, coverage, risk zones or
	// webhooks.
	SettingsVersion int64
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Suspended reports whether whoever runs the service has suspended the operator.
func (o *Operator) Suspended() bool { return o.SuspendedAt != nil }

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

// Store is a shop that sends packages through the operator.
type Store struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	Active     bool
	CreatedAt  time.Time
}

// Rider delivers packages for the operator.
type Rider struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	Phone      string
	Active     bool
	CreatedAt  time.Time
}

// Size is a package size of the operator and what it adds to the price.
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

// CheapestFirst is the order that people look through sizes in.
func CheapestFirst(a, b Size) int {
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

// TableName keeps the singular: coverage is not counted.
func (Coverage) TableName() string { return "coverage" }

// RiskZone is a place the operator warns about: a location with everything below it, words found in
// the address, or both together.
type RiskZone struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	LocationID *uuid.UUID
	Words      string
	Active     bool
	CreatedAt  time.Time
}

// JoinWords is the form the expressions of a risk zone are stored in: one on each line.
func JoinWords(expressions []string) string { return strings.Join(expressions, "\n") }

// WordList reads the stored form.
func (z *RiskZone) WordList() []string {
	return strings.FieldsFunc(z.Words, func(r rune) bool { return r == '\n' })
}
