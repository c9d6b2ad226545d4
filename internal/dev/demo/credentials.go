package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
)

// createCredentials makes new keys and passwords for a demo operator and describes it.
func (b blueprint) createCredentials(ctx context.Context, database *db.DB, now time.Time) (*Operator, error) {
	unrevoked := database.Query(ctx).Model(&models.APIKey{}).Where("operator_id = ? AND revoked_at IS NULL", b.operatorID())
	if err := unrevoked.Update("revoked_at", now).Error; err != nil {
		return nil, err
	}
	operator := &Operator{
		ID: b.operatorID(), Name: b.name, Plan: b.plan, Suspended: b.suspended,
		Covered:   Place{LocationID: catalog.DistrictID(country, coveredUbigeo), Ubigeo: coveredUbigeo},
		Uncovered: Place{LocationID: catalog.DistrictID(country, uncoveredUbigeo), Ubigeo: uncoveredUbigeo},
		Risk:      Risk{LocationID: catalog.DistrictID(country, riskUbigeo), DeliveryAddress: riskAddress},
	}
	for i, name := range b.branches {
		operator.Branches = append(operator.Branches, Branch{ID: id(b.slug, "branch", name), Name: name, Main: i == 0})
	}
	for i, name := range b.riders {
		operator.Riders = append(operator.Riders, Rider{ID: id(b.slug, "rider", name), Name: name, Phone: riderPhone(i)})
	}
	for _, size := range sizes {
		operator.Sizes = append(operator.Sizes, Size{Code: size.code, Default: size.standard})
	}
	if err := b.makeKeys(ctx, database, operator, now); err != nil {
		return nil, err
	}
	var err error
	operator.Panel, err = b.makeUser(ctx, database, "operador@"+b.slug+".example", b.name, nil, now)
	return operator, err
}

func (b blueprint) makeKeys(ctx context.Context, database *db.DB, operator *Operator, now time.Time) error {
	past := now.Add(-time.Hour)
	readOnly := []models.Scope{models.ScopeReadOrders}
	for _, key := range []struct {
		into   *string
		row    models.APIKey
		scopes []models.Scope
	}{
		{&operator.Keys.All, models.APIKey{Name: "Todo"}, models.Scopes},
		{&operator.Keys.ReadOnly, models.APIKey{Name: "Solo lectura"}, readOnly},
		{&operator.Keys.Expired, models.APIKey{Name: "Vencida", ExpiresAt: &past}, models.Scopes},
		{&operator.Keys.Revoked, models.APIKey{Name: "Revocada", RevokedAt: &past}, models.Scopes},
		{&operator.Keys.Test, models.APIKey{Name: "Prueba", Test: true}, models.Scopes},
	} {
		plain, err := b.makeKey(ctx, database, key.row, key.scopes, now)
		if err != nil {
			return err
		}
		*key.into = plain
	}
	for i, name := range b.stores {
		store := Store{ID: id(b.slug, "store", name), Name: name}
		var err error
		if store.Key, err = b.makeKey(ctx, database, models.APIKey{Name: name, StoreID: &store.ID}, models.Scopes,
			now); err != nil {
			return err
		}
		email := fmt.Sprintf("tienda%d@%s.example", i+1, b.slug)
		if store.Panel, err = b.makeUser(ctx, database, email, name, &store.ID, now); err != nil {
			return err
		}
		operator.Stores = append(operator.Stores, store)
	}
	return nil
}

func (b blueprint) makeKey(
	ctx context.Context, database *db.DB, row models.APIKey, scopes []models.Scope, now time.Time,
) (string, error) {
	plain, err := row.Issue()
	if err != nil {
		return "", err
	}
	row.ID, row.OperatorID, row.Scopes, row.CreatedAt = uuid.New(), b.operatorID(), models.JoinSpaced(scopes), now
	return plain, database.Insert(ctx, &row)
}

func (b blueprint) makeUser(
	ctx context.Context, database *db.DB, email, name string, storeID *uuid.UUID, now time.Time,
) (SignIn, error) {
	password, err := credentials.NewToken()
	if err != nil {
		return SignIn{}, err
	}
	password = password[:16]
	hash, err := credentials.HashPassword(password)
	if err != nil {
		return SignIn{}, err
	}
	user := models.User{
		ID: id(b.slug, "user", email), OperatorID: b.operatorID(), StoreID: storeID, Email: email, Name: name,
		PasswordHash: hash, Role: models.RoleOperator, Admin: storeID == nil, Active: true, CreatedAt: now,
	}
	if storeID != nil {
		user.Role = models.RoleStore
	} else {
		user.Grants = models.JoinSpaced(models.Grants)
	}
	if err := database.InsertMissing(ctx, &user); err != nil {
		return SignIn{}, err
	}
	return SignIn{Email: email, Password: password}, database.Query(ctx).Model(&user).Update("password_hash", hash).Error
}
