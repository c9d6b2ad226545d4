package operators

import (
	"context"
	"errors"
	"net/mail"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/principal"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Limits of an e-mail address and of a typed password, in characters. The latter is longer than any
// valid password.
const (
	maxEmail         = 254
	maxTypedPassword = 200
)

// users are an operator's panel users by name, including those of its stores.
func (s *Service) users() Rows[models.User] {
	return Rows[models.User]{
		service: s, patch: s.patchUser, errs: rowErrors{ErrUserNotFound, ErrEmailTaken},
		order: func(a, b models.User) int { return textnorm.Compare(a.Name, b.Name) },
	}
}

// Users lists an operator's panel users by name, including those of its stores.
func (s *Service) Users(ctx context.Context, operator *models.Operator) ([]models.User, error) {
	return s.users().List(ctx, operator)
}

// CreateUser creates a panel user. A generated password is returned because only its hash is
// stored; a given one is not.
func (s *Service) CreateUser(
	ctx context.Context, operator *models.Operator, in *jsonbody.Object,
) (user *models.User, generated string, err error) {
	if err := s.limitUnavailableEmails(ctx, s.db, operator); err != nil {
		return nil, "", err
	}
	user, generated, err = s.createUser(ctx, operator, in)
	return user, generated, s.hideOtherOperators(ctx, operator, user, err)
}

// InviteUser creates a panel user without a password, and starts the reset with which the user
// chooses one.
func (s *Service) InviteUser(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*PasswordReset, error) {
	if err := s.limitUnavailableEmails(ctx, s.db, operator); err != nil {
		return nil, err
	}
	user, err := s.readNewUser(ctx, operator, in)
	if err == nil {
		err = in.Err()
	}
	if err != nil {
		return nil, err
	}
	reset, err := s.inviteUser(ctx, user)
	return reset, s.hideOtherOperators(ctx, operator, user, err)
}

func (s *Service) inviteUser(ctx context.Context, user *models.User) (reset *PasswordReset, err error) {
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := s.insertUser(ctx, tx, user); err != nil {
			return err
		}
		reset, err = s.insertReset(ctx, tx, user)
		return err
	})
	return reset, rowErrors{taken: ErrEmailTaken}.replace(err)
}

// readNewUser reads a user that is to be created. What is wrong with it is in the request's errors.
func (s *Service) readNewUser(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.User, error) {
	user := &models.User{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	return user, readUser(ctx, s.db, user, in)
}

func (s *Service) insertUser(ctx context.Context, tx *db.DB, user *models.User) error {
	if err := requireAdministrator(ctx, tx); err != nil {
		return err
	}
	if err := tx.Insert(ctx, user); err != nil {
		return err
	}
	return s.auditRow(ctx, tx, user, models.AuditCreated, nil)
}

func (s *Service) createUser(
	ctx context.Context, operator *models.Operator, in *jsonbody.Object,
) (user *models.User, generated string, err error) {
	password, generated := readNewPassword(in)
	if user, err = s.readNewUser(ctx, operator, in); err != nil {
		return nil, "", err
	}
	if message, err := checkPassword(password, user, operator); err != nil {
		in.AddError("password", message)
	}
	if err := in.Err(); err != nil {
		return nil, "", err
	}
	if err := s.limitPasswords(ctx, user.OperatorID); err != nil {
		return nil, "", err
	}
	if user.PasswordHash, err = s.passwords.Hash(ctx, password); err != nil {
		return nil, "", err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error { return s.insertUser(ctx, tx, user) })
	return user, generated, rowErrors{taken: ErrEmailTaken}.replace(err)
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
	// Grants are those of another user of the operator; models.NewUserGrants if there are none.
	Grants []models.Grant
	// Password is generated if empty.
	Password string
}

// AddUser is CreateUser for the command line.
func (s *Service) AddUser(ctx context.Context, in NewUser) (user *models.User, generated string, err error) {
	operator, err := s.Find(ctx, in.Operator)
	if err != nil {
		return nil, "", err
	}
	members := map[string]any{"email": in.Email, "name": in.Name, "role": models.RoleOperator, "admin": in.Admin,
		"password": in.Password}
	if in.StoreID != nil {
		members["role"], members["store_id"] = models.RoleStore, in.StoreID
	}
	if len(in.Grants) > 0 {
		members["grants"] = in.Grants
	}
	body, err := bodyWith(members)
	if err != nil {
		return nil, "", err
	}
	return s.createUser(ctx, operator, body)
}

// ChangeUser changes a user. Deactivating a user deletes its sessions.
func (s *Service) ChangeUser(
	ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.User) error,
) (*models.User, error) {
	changed, err := s.users().Change(ctx, operator, id, in, check)
	return changed, s.hideOtherOperators(ctx, operator, changed, err)
}

func (s *Service) patchUser(
	ctx context.Context, tx *db.DB, operator *models.Operator, user *models.User, in *jsonbody.Object,
) error {
	if err := requireAdministrator(ctx, tx); err != nil {
		return err
	}
	administered, email := user.Administers(), user.Email
	if err := readUser(ctx, tx, user, in); err != nil {
		return err
	}
	if err := in.Err(); err != nil {
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
	return apperror.Limited("too_many_requests", "Demasiados correos que no se pueden usar: vuelva a intentarlo mañana.",
		clock.UntilNextDay(now))
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
	if _, err := s.db.CountToday(ctx, unavailableEmails(operator), s.clock.Now()); err != nil {
		return err
	}
	return ErrEmailUnavailable
}

// requireAdministrator checks in the transaction that changes a user that whoever asked for it, if
// not the command line, still is an administrator: another may have taken that away while this
// change waited for its turn or for a hash.
func requireAdministrator(ctx context.Context, tx *db.DB) error {
	id := principal.From(ctx).UserID
	if id == nil {
		return nil
	}
	var asker models.User
	err := tx.Query(ctx).Where("id = ?", *id).Take(&asker).Error
	if err == nil && !asker.Administers() {
		return ErrNotAllowed
	}
	return err
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

// readUser reads the members of a JSON body or a form and adds an error for each that breaks a
// rule. One that is missing keeps its value.
func readUser(ctx context.Context, tx *db.DB, user *models.User, in *jsonbody.Object) error {
	if user.Email == "" || in.Has("email") {
		user.Email = normalizeEmail(in.RequiredText("email", maxEmail))
		if user.Email != "" && !isEmail(user.Email) {
			in.AddError("email", "no es un correo electrónico")
		}
	}
	readName(in, &user.Name)
	readFlag(in, "admin", &user.Admin)
	readFlag(in, "active", &user.Active)
	roleBefore := user.Role
	if user.Role == "" || in.Has("role") {
		user.Role = ""
		if role := in.Enum("role", string(models.RoleOperator), string(models.RoleStore)); role != nil {
			user.Role = models.Role(*role)
		}
	}
	before := user.StoreID
	if in.HasOrNull("store_id") {
		user.StoreID = in.UUID("store_id")
	}
	switch user.Role {
	case models.RoleOperator:
		if in.Has("store_id") {
			in.AddError("store_id", "solo la lleva un usuario de tienda")
		}
		user.StoreID = nil
		if roleBefore != models.RoleOperator {
			user.Grants = models.JoinSpaced(models.NewUserGrants)
		}
		readGrants(in, user)
	case models.RoleStore:
		if user.Admin {
			in.AddError("admin", "solo un usuario del operador puede ser administrador")
		}
		user.Grants = ""
		if readGrants(in, user); user.Grants != "" {
			in.AddError("grants", "solo los lleva un usuario del operador")
		}
		return readUserStore(ctx, tx, user, before, in)
	default:
		in.AddError("role", jsonbody.MissingMessage)
	}
	return nil
}

func readGrants(in *jsonbody.Object, user *models.User) {
	if !in.Has("grants") {
		return
	}
	var grants []models.Grant
	readChoices(in, "grants", models.Grants, &grants)
	user.Grants = models.JoinSpaced(grants)
}

// readUserStore checks the store of a store's user. The one that the user has may be inactive by
// now: that must not prevent other changes.
func readUserStore(ctx context.Context, tx *db.DB, user *models.User, before *uuid.UUID, in *jsonbody.Object) error {
	switch {
	case user.StoreID == nil:
		in.AddError("store_id", "es obligatorio para un usuario de tienda")
		return nil
	case before != nil && *before == *user.StoreID:
		return nil
	}
	active, err := isActiveStore(ctx, tx, user.OperatorID, *user.StoreID)
	if err == nil && !active {
		in.AddError("store_id", notActiveStore)
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
