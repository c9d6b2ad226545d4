package operators

import (
	"context"
	"encoding/json"
	"fmt"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Setup describes an operator with what it needs for its first order: an administrator, a store
// with a key, and coverage.
type Setup struct {
	Operator NewOperator
	// Admin is the administrator; its operator and its store are not read.
	Admin NewUser
	// Store is the store's name.
	Store string
	// Coverage returns the places to cover, which are in the operator's country.
	Coverage func(operator *models.Operator) ([]CoverageRow, error)
}

// SetupResult is what SetUp created.
type SetupResult struct {
	Operator *models.Operator
	Admin    *models.User
	Store    *models.Store
	// Key is the store's live key, TestKey its test key.
	Key, TestKey SetupKey
	// Places is how many places the operator covers.
	Places int
	// Password is known only now. It is empty if it was given.
	Password string
}

// SetupKey is a key with its plain text, which is known only now.
type SetupKey struct {
	*models.APIKey
	Plain string
}

// The names of the store's keys.
const (
	setupKeyName     = "Integración"
	setupTestKeyName = "Integración (prueba)"
)

// SetUp creates an operator with what its first order needs, all of it or nothing.
func (s *Service) SetUp(ctx context.Context, in Setup) (*SetupResult, error) {
	made := &SetupResult{}
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		inTx := *s
		inTx.db = tx
		return inTx.setUp(ctx, in, made)
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (s *Service) setUp(ctx context.Context, in Setup, made *SetupResult) (err error) {
	if made.Operator, err = s.Create(ctx, in.Operator); err != nil {
		return err
	}
	in.Admin.Operator, in.Admin.StoreID, in.Admin.Admin = made.Operator.ID.String(), nil, true
	if made.Admin, made.Password, err = s.AddUser(ctx, in.Admin); err != nil {
		return err
	}
	body, err := bodyWith(map[string]any{"name": in.Store})
	if err != nil {
		return err
	}
	if made.Store, err = s.Stores().Create(ctx, made.Operator, body); err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	if made.Key, err = s.setUpKey(ctx, made, setupKeyName, false); err != nil {
		return err
	}
	if made.TestKey, err = s.setUpKey(ctx, made, setupTestKeyName, true); err != nil {
		return err
	}
	rows, err := in.Coverage(made.Operator)
	if err != nil {
		return err
	}
	made.Places = len(rows)
	_, err = s.ApplyCoverage(ctx, made.Operator, CoverageList{Rows: rows}, nil)
	return err
}

func (s *Service) setUpKey(ctx context.Context, made *SetupResult, name string, test bool) (SetupKey, error) {
	body, err := bodyWith(map[string]any{"name": name, "scopes": models.Scopes, "store_id": made.Store.ID, "test": test})
	if err != nil {
		return SetupKey{}, err
	}
	key, plain, err := s.CreateKey(ctx, made.Operator, body)
	return SetupKey{key, plain}, err
}

// bodyWith is the request that the panel would send.
func bodyWith(members map[string]any) (*jsonbody.Object, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return jsonbody.Parse(text)
}
