package apptest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/models"
	"despacho/test/dbtest"
)

// Places that tenants know: all of Lima is covered at the base price, Miraflores at its own, Cusco
// not at all.
var (
	Miraflores = catalog.DistrictID("PE", "150122")
	Surco      = catalog.DistrictID("PE", "150140")
	SanJuan    = catalog.DistrictID("PE", "150132")
	Pucusana   = catalog.DistrictID("PE", "150124")
	Cusco      = catalog.DistrictID("PE", "080101")
	Lima       = catalog.CityID("PE", "1501")
)

// Tenant is an operator of one test's own.
type Tenant struct {
	s        *Service
	Operator models.Operator
	// Key is unbound with every scope; KeyA and KeyB are bound to the stores.
	Key, KeyA, KeyB string
	StoreA, StoreB  models.Store
	Main, Other     models.Branch
	Riders          []models.Rider
}

// NewTenant makes an operator with two stores, two branches, three sizes and two riders.
func (s *Service) NewTenant(t testing.TB, change ...func(*models.Operator)) *Tenant {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	base := money.Cents(1200)
	tenant := &Tenant{s: s, Operator: models.Operator{
		ID: uuid.New(), Name: "Operador de prueba", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN",
		Plan: models.PlanBusiness, BasePrice: &base, CreatedAt: now, UpdatedAt: now,
	}}
	for _, apply := range change {
		apply(&tenant.Operator)
	}
	id := tenant.Operator.ID
	tenant.StoreA = models.Store{ID: uuid.New(), OperatorID: id, Name: "Tienda A", Active: true, CreatedAt: now}
	tenant.StoreB = models.Store{ID: uuid.New(), OperatorID: id, Name: "Tienda B", Active: true, CreatedAt: now}
	tenant.Main = models.Branch{ID: uuid.New(), OperatorID: id, Name: "Principal", Main: true, Active: true, CreatedAt: now}
	tenant.Other = models.Branch{ID: uuid.New(), OperatorID: id, Name: "Otra", Active: true, CreatedAt: now}
	tenant.Riders = []models.Rider{
		{ID: uuid.New(), OperatorID: id, Name: "Carlos Quispe", Phone: "+51987654321", Active: true, CreatedAt: now},
		{ID: uuid.New(), OperatorID: id, Name: "María Huamán", Phone: "+51987654322", Active: true, CreatedAt: now},
	}
	miraflores := money.Cents(900)
	risky := SanJuan
	tenant.insert(t, &tenant.Operator, &tenant.StoreA, &tenant.StoreB, &tenant.Main, &tenant.Other, &tenant.Riders,
		&[]models.Size{
			{ID: uuid.New(), OperatorID: id, Code: "S", Name: "Pequeño", Active: true, CreatedAt: now},
			{ID: uuid.New(), OperatorID: id, Code: "M", Name: "Mediano", IsDefault: true, Active: true, CreatedAt: now},
			{ID: uuid.New(), OperatorID: id, Code: "L", Name: "Grande", Surcharge: 550, Active: true, CreatedAt: now},
		},
		&[]models.Coverage{
			{ID: uuid.New(), OperatorID: id, LocationID: Lima, CreatedAt: now},
			{ID: uuid.New(), OperatorID: id, LocationID: Miraflores, Price: &miraflores, CreatedAt: now},
		},
		&models.RiskZone{ID: uuid.New(), OperatorID: id, Name: "Huáscar", LocationID: &risky, Words: "huascar\nparadero 10",
			Active: true, CreatedAt: now},
	)
	tenant.Key = tenant.NewKey(t, models.APIKey{})
	tenant.KeyA = tenant.NewKey(t, models.APIKey{StoreID: &tenant.StoreA.ID})
	tenant.KeyB = tenant.NewKey(t, models.APIKey{StoreID: &tenant.StoreB.ID})
	return tenant
}

// OwnName is a name for the operator that no other one has: an operator cannot take another's.
func (tenant *Tenant) OwnName(name string) string {
	return name + " " + tenant.Operator.ID.String()
}

// OnPlan puts the operator on a plan.
func OnPlan(plan models.Plan) func(*models.Operator) {
	return func(o *models.Operator) { o.Plan = plan }
}

func (tenant *Tenant) insert(t testing.TB, rows ...any) {
	t.Helper()
	for _, row := range rows {
		logs.addRow(row)
		require.NoError(t, tenant.s.App.DB.Insert(context.Background(), row))
	}
}

// Change changes the operator's settings as the service itself would.
func (tenant *Tenant) Change(t testing.TB, rows ...any) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, tenant.s.App.DB.ChangeSettings(ctx, tenant.Operator.ID, func(tx *db.DB) error {
		for _, row := range rows {
			if err := tx.Insert(ctx, row); err != nil {
				return err
			}
		}
		return nil
	}))
}

// NewKey makes an API key; without scopes it has all of them.
func (tenant *Tenant) NewKey(t testing.TB, row models.APIKey, scopes ...models.Scope) string {
	t.Helper()
	plain, err := row.Issue()
	require.NoError(t, err)
	if len(scopes) == 0 {
		scopes = models.Scopes
	}
	row.ID, row.OperatorID, row.Name, row.Scopes = uuid.New(), tenant.Operator.ID, "prueba", models.JoinSpaced(scopes)
	row.CreatedAt = tenant.Operator.CreatedAt
	tenant.insert(t, &row)
	return plain
}

// KeyIDs are the ids of the operator's keys, oldest first.
func (tenant *Tenant) KeyIDs(t testing.TB) []uuid.UUID {
	t.Helper()
	keys := RowsOf[models.APIKey](t, tenant)
	ids := make([]uuid.UUID, len(keys))
	for i, key := range keys {
		ids[i] = key.ID
	}
	return ids
}

// Suspend suspends the operator as the command line does.
func (tenant *Tenant) Suspend(t testing.TB) {
	t.Helper()
	_, err := tenant.operators().Suspend(context.Background(), tenant.Operator.ID.String())
	require.NoError(t, err)
}

// Resume ends the operator's suspension.
func (tenant *Tenant) Resume(t testing.TB) {
	t.Helper()
	_, err := tenant.operators().Resume(context.Background(), tenant.Operator.ID.String())
	require.NoError(t, err)
}

// SetPlan puts the operator on a plan.
func (tenant *Tenant) SetPlan(t testing.TB, plan models.Plan) {
	t.Helper()
	_, err := tenant.operators().SetPlan(context.Background(), tenant.Operator.ID.String(), plan)
	require.NoError(t, err)
}

// RevokeKey revokes one of the operator's keys, given its plain text.
func (tenant *Tenant) RevokeKey(t testing.TB, plain string) {
	t.Helper()
	key := dbtest.Row[models.APIKey](t, tenant.s.App.DB, "hash = ?", credentials.Hash(plain))
	require.NoError(t, tenant.operators().RevokeKey(context.Background(), &tenant.Operator, key.ID))
}

func (tenant *Tenant) operators() *operators.Service {
	return operators.New(operators.Options{DB: tenant.s.App.DB, Clock: tenant.s.App.Clock()})
}

// RowsOf reads all of the operator's rows of a type, oldest first.
func RowsOf[T any](t testing.TB, tenant *Tenant) (rows []T) {
	t.Helper()
	query := tenant.s.App.DB.Query(context.Background()).Where("operator_id = ?", tenant.Operator.ID)
	require.NoError(t, query.Order("created_at, id").Find(&rows).Error)
	return rows
}

// Password is what every user of SignIn and SignInAs signs in with.
const Password = "una contraseña larga"

// SignIn signs a new panel user in and returns its token; with a store it is the store's user.
func (tenant *Tenant) SignIn(t testing.TB, store *models.Store) string {
	t.Helper()
	user := models.User{}
	if store != nil {
		user.StoreID = &store.ID
	}
	return tenant.SignInAs(t, &user)
}

// SignInWith signs a new user of the operator in who has these grants and no others.
func (tenant *Tenant) SignInWith(t testing.TB, grants ...models.Grant) string {
	t.Helper()
	return tenant.signIn(t, &models.User{Grants: models.JoinSpaced(grants)})
}

// SignInAs makes the user, fills in what it lacks, signs it in and returns its token. A user of the
// operator has every grant.
func (tenant *Tenant) SignInAs(t testing.TB, user *models.User) string {
	t.Helper()
	if user.StoreID == nil {
		user.Grants = models.JoinSpaced(models.Grants)
	}
	return tenant.signIn(t, user)
}

func (tenant *Tenant) signIn(t testing.TB, user *models.User) string {
	t.Helper()
	hash, err := credentials.HashPassword(Password)
	require.NoError(t, err)
	user.ID, user.OperatorID, user.PasswordHash, user.Active = uuid.New(), tenant.Operator.ID, hash, true
	user.Email, user.CreatedAt = uuid.NewString()+"@prueba.example", tenant.Operator.CreatedAt
	if user.Name == "" {
		user.Name = "Persona de prueba"
	}
	user.Role = models.RoleOperator
	if user.StoreID != nil {
		user.Role = models.RoleStore
	}
	tenant.insert(t, user)
	answer := tenant.s.Do(t, Request{Method: "POST", Path: "/panel/api/session",
		Body: map[string]any{"email": user.Email, "password": Password}})
	require.Equal(t, 200, answer.Status, answer.Text)
	return answer.Data["token"].(string)
}

// Order is a creation request that the tenant can serve; the changes are laid over it, and nil
// removes a field.
func Order(changes ...map[string]any) map[string]any {
	order := map[string]any{
		"recipient_name": "Rosa Díaz", "recipient_phone": "987 654 321", "delivery_address": "Av. Larco 345",
		"location_id": Miraflores.String(), "product": "Zapatillas",
	}
	for _, change := range changes {
		for name, value := range change {
			if value == nil {
				delete(order, name)
				continue
			}
			order[name] = value
		}
	}
	return order
}

// PINOver is the amount from which the operator asks for a PIN at the door, as it is stored now.
func (tenant *Tenant) PINOver(t testing.TB) *money.Cents {
	t.Helper()
	operator, err := tenant.s.App.DB.Operator(t.Context(), tenant.Operator.ID)
	require.NoError(t, err)
	return operator.Rules.PINOver
}
