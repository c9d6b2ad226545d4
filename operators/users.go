package operators

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/credentials"
	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Limits of an e-mail address and of a typed password, in characters. The latter is longer than any
// valid password.
const (
	maxEmail         = 254
	maxTypedPassword = 200
)

// Users lists an operator's panel users by name, including those of its stores.
func (s *Service) Users(ctx context.Context, operator *models.Operator) ([]models.User, error) {
	return list(ctx, s, operator, func(a, b models.User) int { return textnorm.Compare(a.Name, b.Name) })
}

// CreateUser creates a panel user. A generated password is returned because only its hash is
// stored; a given one is not.
func (s *Service) CreateUser(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (user *models.User, generated string, err error) {
	request := &userRequest{User: s.newUser(operator)}
	request.password, generated = readNewPassword(in)
	if err := request.patch(ctx, s.db, in); err != nil {
		return nil, "", err
	}
	return request.User, generated, s.insertUser(ctx, request)
}

// NewUser describes a panel user that the command line creates.
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

// AddUser is CreateUser for the command line, with errors in English.
func (s *Service) AddUser(ctx context.Context, in NewUser) (user *models.User, generated string, err error) {
	operator, err := s.Find(ctx, in.Operator)
	if err != nil {
		return nil, "", err
	}
	request := &userRequest{User: s.newUser(operator), namesStore: in.StoreID != nil, newStore: in.StoreID != nil}
	request.Email, request.Name, request.StoreID, request.Admin = in.Email, in.Name, in.StoreID, in.Admin
	request.Role = models.RoleOperator
	if in.StoreID != nil {
		request.Role = models.RoleStore
	}
	request.password, generated = newPassword(in.Password)
	broken, err := request.check(ctx, s.db)
	switch {
	case err != nil:
		return nil, "", err
	case len(broken) > 0:
		return nil, "", errors.New(broken[0].english)
	}
	err = s.insertUser(ctx, request)
	if errors.Is(err, ErrEmailTaken) {
		err = fmt.Errorf("there is a user with the e-mail %s already", request.Email)
	}
	return request.User, generated, err
}

func (s *Service) newUser(operator *models.Operator) *models.User {
	return &models.User{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
}

func (s *Service) insertUser(ctx context.Context, request *userRequest) (err error) {
	if request.PasswordHash, err = credentials.HashPassword(request.password); err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.InsertUser(ctx, request.User); err != nil {
			return err
		}
		return s.auditRow(ctx, tx, request.User, models.AuditCreated, nil)
	})
	return rowErrors{taken: ErrEmailTaken}.replace(err)
}

// ChangeUser changes a user. Deactivating a user deletes its sessions.
func (s *Service) ChangeUser(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (*models.User, error) {
	return change(ctx, s, operator, id, rowErrors{ErrUserNotFound, ErrEmailTaken}, func(tx *db.DB, user *models.User) error {
		administered := user.Administers()
		if err := (&userRequest{User: user}).patch(ctx, tx, in); err != nil {
			return err
		}
		if administered && !user.Administers() {
			if err := requireOtherAdmin(ctx, tx, user); err != nil {
				return err
			}
		}
		if user.Active {
			return nil
		}
		return tx.DeleteSessionsOf(ctx, user.ID)
	})
}

// requireOtherAdmin checks that another active administrator remains.
func requireOtherAdmin(ctx context.Context, tx *db.DB, user *models.User) error {
	users, err := db.ListOwned[models.User](ctx, tx, user.OperatorID)
	if err != nil {
		return err
	}
	for _, other := range users {
		if other.ID != user.ID && other.Administers() {
			return nil
		}
	}
	return ErrLastAdmin
}

// userRequest is a user as a request wants it to be.
type userRequest struct {
	*models.User
	// password is the plain text of a new user's password.
	password string
	// namesStore means that the request has a store, even a blank one.
	namesStore bool
	// newStore means that the user did not have the store before. A store that the user has may be
	// inactive by now; that must not prevent other changes.
	newStore bool
}

// patch applies a JSON body or a form. A field that cannot be read has that error and no other.
func (r *userRequest) patch(ctx context.Context, tx *db.DB, in *jsonbody.Object) error {
	r.read(in)
	broken, err := r.check(ctx, tx)
	if err != nil {
		return err
	}
	for _, rule := range broken {
		in.AddError(rule.field, rule.message)
	}
	return in.Err()
}

// read reads the members of a JSON body or a form. One that is missing keeps its value.
func (r *userRequest) read(in *jsonbody.Object) {
	before := r.StoreID
	readText(in, "email", maxEmail, &r.Email)
	readText(in, "name", maxName, &r.Name)
	readFlag(in, "admin", &r.Admin)
	readFlag(in, "active", &r.Active)
	if in.Has("role") {
		r.Role = ""
		if role := in.Enum("role", string(models.RoleOperator), string(models.RoleStore)); role != nil {
			r.Role = models.Role(*role)
		}
	}
	if in.HasOrNull("store_id") {
		r.StoreID = in.UUID("store_id")
	}
	r.namesStore = in.Has("store_id")
	r.newStore = r.StoreID != nil && (before == nil || *before != *r.StoreID)
}

// brokenRule is a rule about users that a request breaks. The panel shows the message beside the
// field; the command line prints the English text.
type brokenRule struct{ field, message, english string }

// check normalizes the user and returns the rules that it breaks. These are all the rules about the
// data of one user: whatever creates or changes users calls check.
func (r *userRequest) check(ctx context.Context, tx *db.DB) ([]brokenRule, error) {
	var broken []brokenRule
	add := func(field, message, english string) {
		broken = append(broken, brokenRule{field, message, english})
	}
	if r.password != "" {
		if message, err := checkPassword(r.password); err != nil {
			add("password", message, err.Error())
		}
	}
	typed := r.Email
	switch r.Email = normalizeEmail(typed); {
	case r.Email == "":
		add("email", jsonbody.MissingMessage, "the e-mail is missing")
	case !isEmail(r.Email):
		add("email", "no es un correo electrónico", fmt.Sprintf("%q is not an e-mail address", typed))
	}
	name, err := checkName(r.Name)
	if err != nil {
		// A body's text of another kind has been refused when it was read.
		add("name", jsonbody.MissingMessage, err.Error())
	}
	r.Name = name
	switch r.Role {
	case models.RoleOperator:
		if r.namesStore {
			add("store_id", "solo la lleva un usuario de tienda", "only a store's user has a store")
		}
		r.StoreID = nil
	case models.RoleStore:
		if r.StoreID == nil {
			add("store_id", "es obligatorio para un usuario de tienda", "a store's user needs a store")
		}
		if r.Admin {
			add("admin", "solo un usuario del operador puede ser administrador", "a store's user cannot be the operator's administrator")
		}
	default:
		add("role", jsonbody.MissingMessage, "the role is missing")
		return broken, nil
	}
	if r.StoreID != nil && r.newStore {
		active, err := isActiveStore(ctx, tx, r.OperatorID, *r.StoreID)
		if err != nil {
			return nil, err
		}
		if !active {
			add("store_id", notActiveStore, fmt.Sprintf("the operator has no active store %s", r.StoreID))
		}
	}
	return broken, nil
}

// normalizeEmail is the form in which an address is stored and sign-in looks it up.
func normalizeEmail(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// isEmail reports whether a normalized text is an address and nothing else.
func isEmail(email string) bool {
	address, err := mail.ParseAddress(email)
	return err == nil && address.Address == email && len(email) <= maxEmail
}

// ResetPassword sets a user's password, generated unless given, and deletes the user's sessions.
func (s *Service) ResetPassword(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (generated string, err error) {
	if _, err := db.FindOwned[models.User](ctx, s.db, operator.ID, id); err != nil {
		return "", rowErrors{notFound: ErrUserNotFound}.replace(err)
	}
	password, generated := readNewPassword(in)
	if message, err := checkPassword(password); err != nil {
		in.AddError("password", message)
	}
	if err := in.Err(); err != nil {
		return "", err
	}
	return generated, s.setPassword(ctx, operator.ID, id, password, models.AuditPasswordReset)
}

// ChangePassword changes the password of a signed-in user and deletes the user's other sessions.
func (s *Service) ChangePassword(ctx context.Context, user *models.User, sessionID uuid.UUID, in *jsonbody.Object) error {
	current, chosen := in.RequiredSecret("current", maxTypedPassword), in.RequiredSecret("new", maxTypedPassword)
	if message, err := checkPassword(chosen); err != nil {
		in.AddError("new", message)
	}
	if err := in.Err(); err != nil {
		return err
	}
	stored, err := db.FindOwned[models.User](ctx, s.db, user.OperatorID, user.ID)
	if err != nil {
		return err
	}
	if !credentials.PasswordMatches(stored.PasswordHash, current) {
		in.AddError("current", "no es su contraseña actual")
		return in.Err()
	}
	return s.setPassword(ctx, user.OperatorID, user.ID, chosen, models.AuditPasswordChanged, sessionID)
}

// setPassword stores a checked password and deletes the user's sessions, except those in keep.
func (s *Service) setPassword(ctx context.Context, operatorID, userID uuid.UUID, password string, action models.AuditAction, keep ...uuid.UUID) error {
	hash, err := credentials.HashPassword(password)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.SetPassword(ctx, userID, hash, keep...); err != nil {
			return err
		}
		return s.audit(ctx, tx, operatorID, action, &userID, "")
	})
}

func readNewPassword(in *jsonbody.Object) (password, generated string) {
	return newPassword(in.Secret("password", maxTypedPassword))
}

// newPassword returns the given password, or generates one.
func newPassword(given string) (password, generated string) {
	if given != "" {
		return given, ""
	}
	generated = rand.Text()
	return generated, generated
}

// checkPassword returns what is wrong with a new password, with its message for the panel.
func checkPassword(password string) (message string, err error) {
	switch err = credentials.CheckPassword(password); {
	case errors.Is(err, credentials.ErrPasswordTooShort):
		message = "debe tener al menos 8 caracteres"
	case errors.Is(err, credentials.ErrPasswordTooLong):
		message = "admite como máximo 72 bytes"
	}
	return message, err
}
