package operators

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/credentials"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// maxTypedPassword is longer than any valid password, in characters.
const maxTypedPassword = 200

// Users lists an operator's panel users by name, including those of its stores.
func (s *Service) Users(ctx context.Context, operator *models.Operator) ([]models.User, error) {
	return list(ctx, s, operator, func(a, b models.User) int { return byName(a.Name, b.Name) })
}

// CreateUser creates a panel user. A generated password is returned because only its hash is
// stored; a given one is not.
func (s *Service) CreateUser(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (user *models.User, generated string, err error) {
	password, generated := readNewPassword(in)
	user = &models.User{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	if err := patchUser(ctx, in)(s.db, user); err != nil {
		return nil, "", err
	}
	if user.PasswordHash, err = credentials.HashPassword(password); err != nil {
		return nil, "", err
	}
	err = s.db.InsertUser(ctx, user)
	if db.IsDuplicate(err) {
		err = ErrEmailTaken
	}
	return user, generated, err
}

// ChangeUser changes a user. Deactivating a user deletes its sessions.
func (s *Service) ChangeUser(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (*models.User, error) {
	user, err := change(ctx, s, operator, id, func(tx *db.DB, user *models.User) error {
		before := *user
		if err := patchUser(ctx, in)(tx, user); err != nil {
			return err
		}
		if before.Administers() && !user.Administers() {
			if err := requireOtherAdmin(ctx, tx, user); err != nil {
				return err
			}
		}
		if user.Active {
			return nil
		}
		return tx.DeleteSessionsOf(ctx, user.ID)
	})
	if db.IsDuplicate(err) {
		return nil, ErrEmailTaken
	}
	return orNotFound(user, err, ErrUserNotFound)
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

// ResetPassword sets a user's password, generated unless given, and deletes the user's sessions.
func (s *Service) ResetPassword(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (generated string, err error) {
	if _, err := db.FindOwned[models.User](ctx, s.db, operator.ID, id); err != nil {
		if db.IsNotFound(err) {
			return "", ErrUserNotFound
		}
		return "", err
	}
	password, generated := readNewPassword(in)
	if err := in.Err(); err != nil {
		return "", err
	}
	hash, err := credentials.HashPassword(password)
	if err != nil {
		return "", err
	}
	return generated, s.db.SetPassword(ctx, id, hash)
}

// ChangePassword changes the password of a signed-in user and deletes the user's other sessions.
func (s *Service) ChangePassword(ctx context.Context, user *models.User, sessionID uuid.UUID, in *jsonbody.Object) error {
	current, chosen := in.RequiredSecret("current", maxTypedPassword), in.RequiredSecret("new", maxTypedPassword)
	checkPassword(in, "new", chosen)
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
	hash, err := credentials.HashPassword(chosen)
	if err != nil {
		return err
	}
	return s.db.SetPassword(ctx, user.ID, hash, sessionID)
}

// readNewPassword reads a password or generates one.
func readNewPassword(in *jsonbody.Object) (password, generated string) {
	if password = in.Secret("password", maxTypedPassword); password == "" {
		generated = generatePassword()
		return generated, generated
	}
	checkPassword(in, "password", password)
	return password, ""
}

func checkPassword(in *jsonbody.Object, field, password string) {
	switch err := credentials.CheckPassword(password); {
	case errors.Is(err, credentials.ErrPasswordTooShort):
		in.AddError(field, "debe tener al menos 8 caracteres")
	case errors.Is(err, credentials.ErrPasswordTooLong):
		in.AddError(field, "admite como máximo 72 bytes")
	}
}

func patchUser(ctx context.Context, in *jsonbody.Object) patch[models.User] {
	return func(tx *db.DB, user *models.User) error {
		readEmail(in, &user.Email)
		readName(in, &user.Name)
		readFlag(in, "admin", &user.Admin)
		readFlag(in, "active", &user.Active)
		store := user.StoreID
		readRole(in, user)
		// A user's existing store may be inactive by now; that must not prevent other changes.
		if user.StoreID != nil && (store == nil || *store != *user.StoreID) {
			if err := checkStore(ctx, tx, in, user.OperatorID, user.StoreID); err != nil {
				return err
			}
		}
		return in.Err()
	}
}

func readEmail(in *jsonbody.Object, email *string) {
	if *email != "" && !in.Has("email") {
		return
	}
	typed := in.RequiredText("email", maxEmail)
	checked, err := checkEmail(typed)
	if err != nil {
		in.AddError("email", "no es un correo electrónico")
	}
	*email = checked
}

// readRole keeps role and store consistent: a store's user has a store, the operator's has none and
// may be an administrator.
func readRole(in *jsonbody.Object, user *models.User) {
	if user.Role == "" || in.Has("role") {
		role := in.Enum("role", string(models.RoleOperator), string(models.RoleStore))
		if role == nil {
			in.AddError("role", jsonbody.MissingMessage)
			return
		}
		user.Role = models.Role(*role)
	}
	if in.HasOrNull("store_id") {
		user.StoreID = in.UUID("store_id")
	}
	if user.Role == models.RoleOperator {
		if in.Has("store_id") {
			in.AddError("store_id", "solo la lleva un usuario de tienda")
		}
		user.StoreID = nil
		return
	}
	if user.StoreID == nil {
		in.AddError("store_id", "es obligatorio para un usuario de tienda")
	}
	if user.Admin {
		in.AddError("admin", "solo un usuario del operador puede ser administrador")
	}
}
