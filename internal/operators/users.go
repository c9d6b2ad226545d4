package operators

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/db"
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
	request := &userRequest{User: s.newUser(operator), operator: operator}
	request.password, generated = readNewPassword(in)
	if err := request.patch(ctx, s.db, in); err != nil {
		return nil, "", err
	}
	if err := s.limitUnavailableEmails(ctx, s.db, operator); err != nil {
		return nil, "", err
	}
	return request.User, generated, s.hideOtherOperators(ctx, operator, request.User, s.insertUser(ctx, request))
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
	request := &userRequest{User: s.newUser(operator), operator: operator, namesStore: in.StoreID != nil, newStore: in.StoreID != nil}
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
	if request.PasswordHash, err = s.hash(ctx, request.password); err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.Insert(ctx, request.User); err != nil {
			return err
		}
		return s.auditRow(ctx, tx, request.User, models.AuditCreated, nil)
	})
	return rowErrors{taken: ErrEmailTaken}.replace(err)
}

// ChangeUser changes a user. Deactivating a user deletes its sessions.
func (s *Service) ChangeUser(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.User) error) (*models.User, error) {
	changed, err := change(ctx, s, operator, id, check, rowErrors{ErrUserNotFound, ErrEmailTaken}, func(tx *db.DB, user *models.User) error {
		administered, email := user.Administers(), user.Email
		if err := (&userRequest{User: user, operator: operator}).patch(ctx, tx, in); err != nil {
			return err
		}
		if user.Email != email { // a form sends the address along with every change
			if err := s.limitUnavailableEmails(ctx, tx, operator); err != nil {
				return err
			}
		}
		if administered && !user.Administers() {
			if err := requireOtherAdmin(ctx, tx, user); err != nil {
				return err
			}
		}
		if user.Active {
			return nil
		}
		return deleteSessions(ctx, tx, user.ID)
	})
	return changed, s.hideOtherOperators(ctx, operator, changed, err)
}

// maxUnavailableEmails is how many e-mail addresses of other operators' users one operator may come
// across in a day. After that it is told nothing about any address until the next day.
const maxUnavailableEmails = 20

func unavailableEmails(operator *models.Operator) string { return "emails:" + operator.ID.String() }

// limitUnavailableEmails prevents an operator from searching for the users of others.
func (s *Service) limitUnavailableEmails(ctx context.Context, tx *db.DB, operator *models.Operator) error {
	now := s.clock.Now()
	found, err := tx.CountedToday(ctx, unavailableEmails(operator), now)
	if err != nil || found < maxUnavailableEmails {
		return err
	}
	limited := apperror.New(apperror.TooMany, "too_many_requests", "Demasiados correos que no se pueden usar: vuelva a intentarlo mañana.")
	limited.RetryAfter = clock.UntilNextDay(now)
	return limited
}

// hideOtherOperators turns ErrEmailTaken into ErrEmailUnavailable unless the address is that of a
// user of the same operator.
func (s *Service) hideOtherOperators(ctx context.Context, operator *models.Operator, user *models.User, err error) error {
	if !errors.Is(err, ErrEmailTaken) {
		return err
	}
	holder, findErr := findUser(ctx, s.db, user.Email)
	if findErr == nil && holder.OperatorID == operator.ID {
		return err
	}
	if findErr != nil && !db.IsNotFound(findErr) {
		return findErr
	}
	if err := s.db.CountToday(ctx, unavailableEmails(operator), s.clock.Now()); err != nil {
		return err
	}
	return ErrEmailUnavailable
}

// requireOtherAdmin checks that another active administrator remains.
func requireOtherAdmin(ctx context.Context, tx *db.DB, user *models.User) error {
	users, err := listOwned[models.User](ctx, tx, user.OperatorID)
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
	operator *models.Operator
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

type brokenRules []brokenRule

func (b *brokenRules) add(field, message, english string) {
	*b = append(*b, brokenRule{field, message, english})
}

// check normalizes the user and returns the rules that it breaks. These are all the rules about the
// data of one user: whatever creates or changes users calls check.
func (r *userRequest) check(ctx context.Context, tx *db.DB) (brokenRules, error) {
	var broken brokenRules
	r.checkAccount(&broken)
	r.checkRole(&broken)
	err := r.checkStore(ctx, tx, &broken)
	return broken, err
}

// checkAccount checks what a user signs in with, and the name.
func (r *userRequest) checkAccount(broken *brokenRules) {
	typed := r.Email
	switch r.Email = normalizeEmail(typed); {
	case r.Email == "":
		broken.add("email", jsonbody.MissingMessage, "the e-mail is missing")
	case !isEmail(r.Email):
		broken.add("email", "no es un correo electrónico", fmt.Sprintf("%q is not an e-mail address", typed))
	}
	name, err := checkName(r.Name)
	if err != nil {
		// A body's text of another kind has been refused when it was read.
		broken.add("name", jsonbody.MissingMessage, err.Error())
	}
	r.Name = name
	if r.password != "" {
		if message, err := checkPassword(r.password, r.User, r.operator); err != nil {
			broken.add("password", message, err.Error())
		}
	}
}

// checkRole checks that the user has what belongs to the role and nothing else.
func (r *userRequest) checkRole(broken *brokenRules) {
	switch r.Role {
	case models.RoleOperator:
		if r.namesStore {
			broken.add("store_id", "solo la lleva un usuario de tienda", "only a store's user has a store")
		}
		r.StoreID = nil
	case models.RoleStore:
		if r.StoreID == nil {
			broken.add("store_id", "es obligatorio para un usuario de tienda", "a store's user needs a store")
		}
		if r.Admin {
			broken.add("admin", "solo un usuario del operador puede ser administrador", "a store's user cannot be the operator's administrator")
		}
	default:
		broken.add("role", jsonbody.MissingMessage, "the role is missing")
	}
}

// checkStore checks that the store of a store's user is active, if the user did not have it before.
func (r *userRequest) checkStore(ctx context.Context, tx *db.DB, broken *brokenRules) error {
	if r.Role != models.RoleStore || r.StoreID == nil || !r.newStore {
		return nil
	}
	active, err := isActiveStore(ctx, tx, r.OperatorID, *r.StoreID)
	if err == nil && !active {
		broken.add("store_id", notActiveStore, fmt.Sprintf("the operator has no active store %s", r.StoreID))
	}
	return err
}

// normalizeEmail is the form in which an address is stored and sign-in looks it up.
func normalizeEmail(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// isEmail reports whether a normalized text is an address and nothing else.
func isEmail(email string) bool {
	address, err := mail.ParseAddress(email)
	return err == nil && address.Address == email && len(email) <= maxEmail
}

// colleague finds the user whose password or second factor an administrator resets.
func (s *Service) colleague(ctx context.Context, admin *db.SignedIn, id uuid.UUID) (*models.User, error) {
	if id == admin.User.ID {
		return nil, ErrOwnAccount
	}
	user, err := findOwned[models.User](ctx, s.db, admin.Operator.ID, id)
	return user, rowErrors{notFound: ErrUserNotFound}.replace(err)
}
