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

// maxTypedPassword is more than any password has, in characters.
const maxTypedPassword = 200

// Users lists an operator's panel users by name, those of its stores among them.
func (s *Service) Users(ctx context.Context, operator *models.Operator) ([]models.User, error) {
	return list(ctx, s, operator, func(a, b models.User) int { return byName(a.Name, b.Name) })
}

// CreateUser opens the panel to somebody. A drawn password is returned because it is not to be had
// again; one that was given is not.
func (s *Service) CreateUser(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (user *models.User, drawn string, err error) {
	password, drawn := readNewPassword(in)
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
	return user, drawn, err
}

// ChangeUser changes a user. Deactivating one ends its sessions.
func (s *Service) ChangeUser(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (*models.User, error) {
	user, err := change(ctx, s, operator, id, func(tx *db.DB, user *models.User) error {
		before := *user
		if err := patchUser(ctx, in)(tx, user); err != nil {
			return err
		}
		if before.Administers() && !user.Administers() {
			if err := otherAdmin(ctx, tx, user); err != nil {
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

// otherAdmin makes sure that an operator does not lock itself out of its users.
func otherAdmin(ctx context.Context, tx *db.DB, user *models.User) error {
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

// ResetPassword gives a user another password, drawn unless one is given, and ends its sessions.
func (s *Service) ResetPassword(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (drawn string, err error) {
	if _, err := db.FindOwned[models.User](ctx, s.db, operator.ID, id); err != nil {
		if db.IsNotFound(err) {
			return "", ErrUserNotFound
		}
		return "", err
	}
	password, drawn := readNewPassword(in)
	if err := in.Err(); err != nil {
		return "", err
	}
	hash, err := credentials.HashPassword(password)
	if err != nil {
		return "", err
	}
	return drawn, s.db.SetPassword(ctx, id, hash)
}

// ChangePassword lets a signed-in user choose another password. The user's other sessions end.
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

// readNewPassword reads the password that somebody else is to have, or draws one.
func readNewPassword(in *jsonbody.Object) (password, drawn string) {
	if password = in.Secret("password", maxTypedPassword); password == "" {
		drawn = drawPassword()
		return drawn, drawn
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
		// The store that a user has already may have been closed since; that keeps nobody from
		// changing the rest.
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

// readRole keeps role and store together: a store's user has its store, the operator's own has none
// and may be an administrator.
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
