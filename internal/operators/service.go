// Package operators holds the use cases about operators: the command line creates them, changes
// their plan and suspends them; the panel manages their keys, stores, riders, branches, sizes,
// coverage, risk zones, users and settings, and its users sign in and out.
package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/photos"
	"despacho/internal/signing"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Service implements the use cases for the command line and the panel.
type Service struct {
	db                       *db.DB
	clock                    clock.Clock
	secrets                  *encryption.Cipher
	signer                   *signing.Signer
	userLimit, operatorLimit int
	passwords                *credentials.Pool
	photos                   photos.Store
}

// Options are the dependencies of a Service.
type Options struct {
	DB    *db.DB
	Clock clock.Clock
	// Secrets encrypts second factors and Signer signs a sign-in between its two steps. The command
	// line needs neither.
	Secrets *encryption.Cipher
	Signer  *signing.Signer
	// UserLimit and OperatorLimit are how many requests a minute one panel user and all of an
	// operator's may make.
	UserLimit, OperatorLimit int
	// Photos stores the logos; the command line needs none.
	Photos photos.Store
}

// New returns the service.
func New(options Options) *Service {
	return &Service{
		db: options.DB, clock: options.Clock, secrets: options.Secrets, signer: options.Signer,
		userLimit: options.UserLimit, operatorLimit: options.OperatorLimit, passwords: credentials.NewPool(), photos: options.Photos,
	}
}

// List returns every operator by name.
func (s *Service) List(ctx context.Context) ([]models.Operator, error) {
	return listOperators(ctx, s.db)
}

// Find returns the operator with the given id or the only one with the given name. An earlier
// release allowed names that differ only in accents or punctuation; of those it returns the one
// spelled as given.
func (s *Service) Find(ctx context.Context, idOrName string) (*models.Operator, error) {
	if id, err := uuid.Parse(idOrName); err == nil {
		operator, err := s.db.Operator(ctx, id)
		if db.IsNotFound(err) {
			return nil, fmt.Errorf("there is no operator %s", id)
		}
		return operator, err
	}
	named, err := operatorsNamed(ctx, s.db, idOrName)
	if err != nil {
		return nil, err
	}
	switch named = withSpelling(named, idOrName); len(named) {
	case 0:
		return nil, fmt.Errorf("there is no operator %q", idOrName)
	case 1:
		return &named[0], nil
	}
	ids := make([]string, len(named))
	for i, operator := range named {
		ids[i] = operator.ID.String()
	}
	return nil, fmt.Errorf("%d operators are called %q, say which by its id: %s", len(named), idOrName, strings.Join(ids, ", "))
}

// operatorsNamed lists the operators with a name, as isSameName compares them. There is at most one
// unless the others were created by an earlier release.
func operatorsNamed(ctx context.Context, tx *db.DB, name string) ([]models.Operator, error) {
	all, err := listOperators(ctx, tx)
	return slices.DeleteFunc(all, func(operator models.Operator) bool { return !isSameName(operator.Name, strings.TrimSpace(name)) }), err
}

// listOperators lists every operator by name.
func listOperators(ctx context.Context, tx *db.DB) ([]models.Operator, error) {
	var all []models.Operator
	err := tx.Query(ctx).Order("created_at, id").Find(&all).Error
	slices.SortStableFunc(all, func(a, b models.Operator) int { return textnorm.Compare(a.Name, b.Name) })
	return all, err
}

// lockNames makes transactions that create or rename operators wait for each other, until this one
// ends. SQLite has a single writer and needs no lock.
func lockNames(ctx context.Context, tx *db.DB) error {
	if tx.Dialect() == db.SQLite {
		return nil
	}
	return tx.Query(ctx).Exec("LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE").Error
}

// withSpelling keeps those of the operators whose name differs in case at most, if there are any.
func withSpelling(named []models.Operator, name string) []models.Operator {
	differs := func(operator models.Operator) bool { return !strings.EqualFold(operator.Name, strings.TrimSpace(name)) }
	if spelled := slices.DeleteFunc(slices.Clone(named), differs); len(spelled) > 0 {
		return spelled
	}
	return named
}
