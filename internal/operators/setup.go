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

// SetupResult is what SetUp found or created.
type SetupResult struct {
	Operator *models.Operator
	Admin    *models.User
	Store    *models.Store
	// Key is the store's live key, TestKey its test key.
	Key, TestKey SetupKey
	Coverage     *CoverageChange
	// What did not exist before.
	NewOperator, NewAdmin, NewStore bool
	// Password is known only now. It is empty for an administrator that existed, and if it was given.
	Password string
}

// SetupKey is a key that SetUp found or created. Plain is known only now: it is empty for one that
// existed.
type SetupKey struct {
	*models.APIKey
	New   bool
	Plain string
}

// The names of the store's keys.
const (
	setupKeyName     = "Integración"
	setupTestKeyName = "Integración (prueba)"
)

// SetUp creates what the operator lacks, all of it or nothing. What exists, recognised by the names
// of operator and store, the administrator's e-mail and the key's name, stays as it is, so that
// SetUp can be repeated; only the prices of the given places change.
func (s *Service) SetUp(ctx context.Context, in Setup) (*SetupResult, error) {
	made := &SetupResult{}
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		inTx := *s
		inTx.db = tx
		if err := lockNames(ctx, tx); err != nil {
			return err
		}
		for _, step := range []func(context.Context, Setup, *SetupResult) error{
			inTx.setUpOperator, inTx.setUpAdmin, inTx.setUpStore, inTx.setUpKeys, inTx.setUpCoverage,
		} {
			if err := step(ctx, in, made); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (s *Service) setUpOperator(ctx context.Context, in Setup, made *SetupResult) error {
	name, err := checkName(in.Operator.Name)
	if err != nil {
		return err
	}
	made.Operator, err = operatorNamed(ctx, s.db, name)
	if err == nil && made.Operator == nil {
		made.NewOperator = true
		made.Operator, err = s.Create(ctx, in.Operator)
	}
	return err
}

func (s *Service) setUpAdmin(ctx context.Context, in Setup, made *SetupResult) error {
	user, err := findUser(ctx, s.db, normalizeEmail(in.Admin.Email))
	switch {
	case db.IsNotFound(err):
		if err := s.requireNoUsers(ctx, made.Operator, in.Admin.Email); err != nil {
			return err
		}
		admin := in.Admin
		admin.Operator, admin.StoreID, admin.Admin = made.Operator.ID.String(), nil, true
		made.NewAdmin = true
		made.Admin, made.Password, err = s.AddUser(ctx, admin)
		return err
	case err != nil:
		return err
	case user.OperatorID != made.Operator.ID:
		return fmt.Errorf("%s is the e-mail of another operator's user", user.Email)
	}
	made.Admin = user
	return nil
}

// requireNoUsers refuses a new administrator of an operator that has users. They may have given
// their operator the name of one that is still to be set up: its orders would be theirs to see.
func (s *Service) requireNoUsers(ctx context.Context, operator *models.Operator, email string) error {
	users, err := s.Users(ctx, operator)
	if err == nil && len(users) > 0 {
		err = fmt.Errorf("there is an operator %q already, %s, and %s is none of its users: if it is the right one, "+
			"add them with `despacho operator user add`", operator.Name, operator.ID, email)
	}
	return err
}

func (s *Service) setUpStore(ctx context.Context, in Setup, made *SetupResult) error {
	name, err := checkName(in.Store)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	stores, err := s.Stores().List(ctx, made.Operator)
	if err != nil {
		return err
	}
	for _, store := range stores {
		if !isSameName(store.Name, name) {
			continue
		}
		if !store.Active {
			return fmt.Errorf("the store %q is deactivated: activate it in the panel, or give another name", store.Name)
		}
		made.Store = &store
		return nil
	}
	body, err := bodyWith(map[string]any{"name": name})
	if err != nil {
		return err
	}
	made.NewStore = true
	made.Store, err = s.Stores().Create(ctx, made.Operator, body)
	return err
}

func (s *Service) setUpKeys(ctx context.Context, _ Setup, made *SetupResult) error {
	keys, err := s.Keys(ctx, made.Operator)
	if err != nil {
		return err
	}
	if made.Key, err = s.setUpKey(ctx, made, keys, setupKeyName, false); err != nil {
		return err
	}
	made.TestKey, err = s.setUpKey(ctx, made, keys, setupTestKeyName, true)
	return err
}

func (s *Service) setUpKey(
	ctx context.Context, made *SetupResult, keys []models.APIKey, name string, test bool,
) (SetupKey, error) {
	for _, key := range keys {
		if key.Name == name && key.Test == test && key.StoreID != nil && *key.StoreID == made.Store.ID &&
			key.Usable(s.clock.Now()) {
			return SetupKey{APIKey: &key}, nil
		}
	}
	body, err := bodyWith(map[string]any{"name": name, "scopes": models.Scopes, "store_id": made.Store.ID, "test": test})
	if err != nil {
		return SetupKey{}, err
	}
	key, plain, err := s.CreateKey(ctx, made.Operator, body)
	return SetupKey{APIKey: key, New: true, Plain: plain}, err
}

func (s *Service) setUpCoverage(ctx context.Context, in Setup, made *SetupResult) error {
	rows, err := in.Coverage(made.Operator)
	if err != nil {
		return err
	}
	made.Coverage, err = s.ApplyCoverage(ctx, made.Operator, CoverageList{Rows: rows}, nil)
	return err
}

// bodyWith is the request that the panel would send.
func bodyWith(members map[string]any) (*jsonbody.Object, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return jsonbody.Parse(text)
}
