package operators

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/credentials"
	"despacho/models"
)

// NewUser describes a panel user to be created.
type NewUser struct {
	// Operator is the id or the name of the operator the user belongs to.
	Operator string
	Email    string
	Name     string
	// StoreID is the store of a store's user; nil for the operator's.
	StoreID *uuid.UUID
	// Admin makes an operator's user an administrator.
	Admin bool
	// Password is generated if empty.
	Password string
}

// AddUser creates a panel user and returns the password, of which only the hash is stored.
func (s *Service) AddUser(ctx context.Context, in NewUser) (user *models.User, password string, err error) {
	email, err := checkEmail(in.Email)
	if err != nil {
		return nil, "", err
	}
	name, err := checkName(in.Name)
	if err != nil {
		return nil, "", err
	}
	operator, err := s.Find(ctx, in.Operator)
	if err != nil {
		return nil, "", err
	}
	role, err := s.role(ctx, operator, in)
	if err != nil {
		return nil, "", err
	}
	password = in.Password
	if password == "" {
		password = generatePassword()
	}
	hash, err := credentials.HashPassword(password)
	if err != nil {
		return nil, "", err
	}
	user = &models.User{
		ID: uuid.New(), OperatorID: operator.ID, StoreID: in.StoreID, Email: email, Name: name,
		PasswordHash: hash, Role: role, Admin: in.Admin, Active: true, CreatedAt: s.clock.Now(),
	}
	err = s.db.InsertUser(ctx, user)
	if db.IsDuplicate(err) {
		return nil, "", fmt.Errorf("there is a user with the e-mail %s already", email)
	}
	return user, password, err
}

func (s *Service) role(ctx context.Context, operator *models.Operator, in NewUser) (models.Role, error) {
	if in.StoreID == nil {
		return models.RoleOperator, nil
	}
	if in.Admin {
		return "", errors.New("a store's user cannot be the operator's administrator")
	}
	stores, err := s.db.StoresOf(ctx, operator.ID, in.StoreID)
	if err != nil {
		return "", err
	}
	if len(stores) == 0 {
		return "", fmt.Errorf("%s has no active store %s", operator.Name, in.StoreID)
	}
	return models.RoleStore, nil
}

// generatePassword generates a random password.
func generatePassword() string { return rand.Text() }
