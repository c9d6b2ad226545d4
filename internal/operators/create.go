package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// DefaultCountry is the country of an operator unless another is given.
const DefaultCountry = "PE"

// NewOperator describes an operator to be created.
type NewOperator struct {
	Name string
	// CountryCode is one of the catalog's; empty means DefaultCountry. The currency is the
	// country's.
	CountryCode string
	// Timezone is an IANA name; empty means the country's.
	Timezone string
	// Plan is basic when empty.
	Plan models.Plan
	// BasePrice applies where coverage has no price; nil means that every coverage row must have
	// one.
	BasePrice *money.Cents
}

// mainBranch is the name of every operator's first branch.
const mainBranch = "Principal"

// defaultSizes are the initial sizes of every operator, without a surcharge.
var defaultSizes = []models.Size{
	{Code: "S", Name: "Pequeño"},
	{Code: "M", Name: "Mediano", IsDefault: true},
	{Code: "L", Name: "Grande"},
}

// Create creates an operator with the branch and the sizes that orders require. Names are unique,
// because commands take them for an id.
func (s *Service) Create(ctx context.Context, in NewOperator) (*models.Operator, error) {
	operator, err := s.newOperator(ctx, in)
	if err != nil {
		return nil, err
	}
	branch := models.Branch{
		ID: uuid.New(), OperatorID: operator.ID, Name: mainBranch, Main: true, Active: true, CreatedAt: operator.CreatedAt,
	}
	sizes := slices.Clone(defaultSizes)
	for i := range sizes {
		sizes[i].ID, sizes[i].OperatorID, sizes[i].Active, sizes[i].CreatedAt = uuid.New(), operator.ID, true, operator.CreatedAt
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockNames(ctx, tx); err != nil {
			return err
		}
		named, err := operatorNamed(ctx, tx, operator.Name)
		if err != nil {
			return err
		}
		if named != nil {
			return fmt.Errorf("there is an operator %q already: %s", named.Name, named.ID)
		}
		for _, rows := range []any{operator, &branch, &sizes} {
			if err := tx.Insert(ctx, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("creating the operator: %w", err)
	}
	return operator, nil
}

func (s *Service) newOperator(ctx context.Context, in NewOperator) (*models.Operator, error) {
	name, err := checkName(in.Name)
	if err != nil {
		return nil, err
	}
	if in.Plan == "" {
		in.Plan = models.PlanBasic
	}
	if err := checkPlan(in.Plan); err != nil {
		return nil, err
	}
	country, err := s.country(ctx, in.CountryCode)
	if err != nil {
		return nil, err
	}
	zone := in.Timezone
	if zone == "" {
		zone = country.Timezone
	}
	if err := checkTimezone(zone); err != nil {
		return nil, err
	}
	now := s.clock.Now()
	return &models.Operator{
		ID: uuid.New(), Name: name, CountryCode: country.Code, Timezone: zone, Currency: country.Currency,
		Plan: in.Plan, BasePrice: in.BasePrice, CreatedAt: now, UpdatedAt: now,
	}, nil
}

func (s *Service) country(ctx context.Context, code string) (*models.Country, error) {
	if code == "" {
		code = DefaultCountry
	}
	var country models.Country
	err := s.db.Query(ctx).Where("code = ?", strings.ToUpper(code)).Take(&country).Error
	if !db.IsNotFound(err) {
		return &country, err
	}
	var loaded int64
	if err := s.db.Query(ctx).Model(&models.Country{}).Count(&loaded).Error; err != nil {
		return nil, err
	}
	if loaded == 0 {
		return nil, errors.New("the location catalog is not loaded: run `despacho migrate up`")
	}
	return nil, fmt.Errorf("the catalog has no country %q: use a two-letter code such as %s", code, DefaultCountry)
}

// checkTimezone also refuses "Local", which depends on the machine.
func checkTimezone(name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return fmt.Errorf("%q is not a time zone: use an IANA name such as America/Lima", name)
	}
	return nil
}
