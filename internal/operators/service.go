// Package operators holds the use cases about operators: the command line creates them, changes
// their plan and suspends them; the panel manages their keys, stores, riders, branches, sizes,
// coverage, risk zones, users and settings, and its users sign in and out.
package operators

import (
	"cmp"
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
	// Passwords hashes the passwords; nil is a pool of the service's own.
	Passwords *credentials.Pool
}

// New returns the service.
func New(options Options) *Service {
	return &Service{
		db: options.DB, clock: options.Clock, secrets: options.Secrets, signer: options.Signer,
		userLimit: options.UserLimit, operatorLimit: options.OperatorLimit, passwords: cmp.Or(options.Passwords, credentials.NewPool()),
		photos: options.Photos,
	}
}

// List returns every operator by name.
func (s *Service) List(ctx context.Context) ([]models.Operator, error) {
	return listOperators(ctx, s.db)
}

// Find returns the operator with the given id or name.
func (s *Service) Find(ctx context.Context, idOrName string) (*models.Operator, error) {
	if id, err := uuid.Parse(idOrName); err == nil {
		operator, err := s.db.Operator(ctx, id)
		if db.IsNotFound(err) {
			return nil, fmt.Errorf("there is no operator %s", id)
		}
		return operator, err
	}
	operator, err := operatorNamed(ctx, s.db, idOrName)
	if err == nil && operator == nil {
		err = fmt.Errorf("there is no operator %q", idOrName)
	}
	return operator, err
}

// operatorNamed returns the operator with a name, as isSameName compares them, or nil.
func operatorNamed(ctx context.Context, tx *db.DB, name string) (*models.Operator, error) {
	all, err := listOperators(ctx, tx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if isSameName(all[i].Name, strings.TrimSpace(name)) {
			return &all[i], nil
		}
	}
	return nil, nil
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
