package operators_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/catalog"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/internal/signing"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var monday = time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)

// fixture is a service with its own database.
type fixture struct {
	*operators.Service
	db    *db.DB
	clock *clock.Manual
}

func open(t *testing.T, databaseURL string) *fixture {
	t.Helper()
	database, err := db.Open(t.Context(), databaseURL, db.Options{ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	clk := clock.NewManual(monday)
	secrets, err := encryption.New("a secret key of thirty-two characters")
	require.NoError(t, err)
	signer, err := signing.New("a secret key of thirty-two characters")
	require.NoError(t, err)
	return &fixture{Service: operators.New(operators.Options{DB: database, Clock: clk, Secrets: secrets, Signer: signer, UserLimit: 1000, OperatorLimit: 1000}), db: database, clock: clk}
}

// openWithCatalog opens a fixture with the countries of the catalog.
func openWithCatalog(t *testing.T, databaseURL string) *fixture {
	t.Helper()
	h := open(t, databaseURL)
	countries, locations := catalog.Embedded()
	require.NoError(t, h.db.LoadCatalog(t.Context(), countries, locations[:len(countries)]))
	return h
}

func (h *fixture) create(t *testing.T, name string) *models.Operator {
	t.Helper()
	operator, err := h.Create(t.Context(), operators.NewOperator{Name: name})
	require.NoError(t, err)
	return operator
}

func (h *fixture) addStore(t *testing.T, operator *models.Operator, active bool) uuid.UUID {
	t.Helper()
	store := models.Store{ID: uuid.New(), OperatorID: operator.ID, Name: "Zapatería Sol", Active: active, CreatedAt: monday}
	require.NoError(t, h.db.ChangeSettings(t.Context(), operator.ID, func(tx *db.DB) error { return tx.Insert(t.Context(), &store) }))
	return store.ID
}

func TestCreate_hasWhatAnOrderNeeds(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		price := money.Cents(12_50)
		created, err := h.Create(t.Context(), operators.NewOperator{Name: "  Rayo Envíos ", Plan: models.PlanPro, BasePrice: &price})
		require.NoError(t, err)

		stored, err := h.db.Operator(t.Context(), created.ID)
		require.NoError(t, err)
		require.Equal(t, "Rayo Envíos", stored.Name)
		require.Equal(t, []string{"PE", "America/Lima", "PEN"}, []string{stored.CountryCode, stored.Timezone, stored.Currency})
		require.Equal(t, models.PlanPro, stored.Plan)
		require.Equal(t, &price, stored.BasePrice)
		require.False(t, stored.Suspended())
		require.False(t, stored.ShareProofLocation)
		require.True(t, stored.CreatedAt.Equal(monday))

		branch := dbtest.Row[models.Branch](t, h.db, "operator_id = ?", created.ID)
		require.Equal(t, "Principal", branch.Name)
		require.True(t, branch.Main && branch.Active)
		sizes := map[string]bool{}
		for _, size := range dbtest.Rows[models.Size](t, h.db, "operator_id = ?", created.ID) {
			require.Zero(t, size.Surcharge)
			sizes[size.Code] = size.IsDefault
		}
		require.Equal(t, map[string]bool{"S": false, "M": true, "L": false}, sizes)
	})
}

func TestCreate_countryDecidesCurrencyAndZone(t *testing.T) {
	t.Parallel()
	h := openWithCatalog(t, testenv.SQLite(t))
	inherited, err := h.Create(t.Context(), operators.NewOperator{Name: "Andes Courier", CountryCode: "cl"})
	require.NoError(t, err)
	require.Equal(t, []string{"CL", "CLP", "America/Santiago"}, []string{inherited.CountryCode, inherited.Currency, inherited.Timezone})
	require.Equal(t, models.PlanBasic, inherited.Plan)
	require.Nil(t, inherited.BasePrice)

	chosen, err := h.Create(t.Context(), operators.NewOperator{Name: "Pascua Courier", CountryCode: "CL", Timezone: "Pacific/Easter"})
	require.NoError(t, err)
	require.Equal(t, "Pacific/Easter", chosen.Timezone)
}

func TestCreate_refuses(t *testing.T) {
	t.Parallel()
	h := openWithCatalog(t, testenv.SQLite(t))
	for wrong, in := range map[string]operators.NewOperator{
		"name is missing":       {Name: "  "},
		"more than 200":         {Name: strings.Repeat("ñ", 201)},
		"control characters":    {Name: "Rayo\nEnvíos"},
		"not UTF-8":             {Name: "Rayo \xff"},
		`no country "XX"`:       {Name: "Rayo", CountryCode: "XX"},
		`"Local" is not a time`: {Name: "Rayo", Timezone: "Local"},
		`"Lima" is not a time`:  {Name: "Rayo", Timezone: "Lima"},
		`"gold" is not a plan`:  {Name: "Rayo", Plan: "gold"},
	} {
		_, err := h.Create(t.Context(), in)
		require.ErrorContains(t, err, wrong)
		require.NotContains(t, err.Error(), "\n")
	}
	all, err := h.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, all, "what was refused left nothing behind")
}

func TestCreate_withoutTheCatalogSaysHowToLoadIt(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		_, err := open(t, databaseURL).Create(t.Context(), operators.NewOperator{Name: "Rayo Envíos"})
		require.ErrorContains(t, err, "despacho migrate up")
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	h := openWithCatalog(t, testenv.SQLite(t))
	rayo := h.create(t, "Rayo Envíos")
	h.create(t, "Andes")

	for _, called := range []string{rayo.ID.String(), "Rayo Envíos", "rayo envíos", " RAYO ENVÍOS "} {
		found, err := h.Find(t.Context(), called)
		require.NoError(t, err, called)
		require.Equal(t, rayo.ID, found.ID)
	}
	for _, unknown := range []string{uuid.NewString(), "Rayo", ""} {
		_, err := h.Find(t.Context(), unknown)
		require.ErrorContains(t, err, "there is no operator", unknown)
	}
}

// An operator's name is what customers know it by, and commands take it for an id. So nobody gets a
// name that people take for another operator's: other accents, another form of the same letters,
// other spaces.
func TestNames_thatPeopleTakeForOne(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		rayo, other := h.create(t, "Rayo Envíos"), h.create(t, "Otro")
		for _, name := range []string{"Rayo Envi\u0301os", "Rayo  Envíos", "RAYO\u00a0ENVÍOS", "Rayo En\u200bvíos", "Rayo Envios", "Rayo-Envíos."} {
			_, err := h.Create(t.Context(), operators.NewOperator{Name: name})
			require.ErrorContains(t, err, rayo.ID.String(), "%q", name)
			body, err := json.Marshal(map[string]string{"name": name})
			require.NoError(t, err)
			in, err := jsonbody.Parse(body)
			require.NoError(t, err)
			_, err = h.ChangeSettings(t.Context(), &db.SignedIn{Operator: *other}, in, nil)
			require.Equal(t, apperror.Invalid, apperror.From(err).Kind, "%q: %v", name, err)
			found, err := h.Find(t.Context(), name)
			require.NoError(t, err, "%q", name)
			require.Equal(t, rayo.ID, found.ID)
		}
		h.create(t, "★")
		h.create(t, "♥")
	})
}

func TestList_byName(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		for _, name := range []string{"Zorro", "águila", "Rayo", "andes"} {
			h.create(t, name)
		}
		all, err := h.List(t.Context())
		require.NoError(t, err)
		var names []string
		for _, operator := range all {
			names = append(names, operator.Name)
		}
		require.Equal(t, []string{"águila", "andes", "Rayo", "Zorro"}, names)
	})
}

func TestPlan_suspendAndResume(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		operator := h.create(t, "Rayo Envíos")
		other := h.create(t, "Andes Courier")

		changed, err := h.SetPlan(t.Context(), "Rayo Envíos", models.PlanBusiness)
		require.NoError(t, err)
		require.Equal(t, models.PlanBusiness, changed.Plan)
		_, err = h.SetPlan(t.Context(), "Rayo Envíos", "gold")
		require.ErrorContains(t, err, "basic, pro, business")

		suspended, err := h.Suspend(t.Context(), operator.ID.String())
		require.NoError(t, err)
		require.True(t, suspended.SuspendedAt.Equal(monday))
		h.clock.Advance(time.Hour)
		again, err := h.Suspend(t.Context(), operator.ID.String())
		require.NoError(t, err)
		require.True(t, again.SuspendedAt.Equal(monday), "the first date stands")

		for range 2 {
			resumed, err := h.Resume(t.Context(), operator.ID.String())
			require.NoError(t, err)
			require.False(t, resumed.Suspended())
			require.Equal(t, models.PlanBusiness, resumed.Plan)
		}
		untouched, err := h.Find(t.Context(), other.ID.String())
		require.NoError(t, err)
		require.Equal(t, models.PlanBasic, untouched.Plan)
		_, err = h.Suspend(t.Context(), uuid.NewString())
		require.ErrorContains(t, err, "there is no operator")
	})
}

func TestAddUser(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		operator := h.create(t, "Rayo Envíos")
		store := h.addStore(t, operator, true)

		user, generated, err := h.AddUser(t.Context(), operators.NewUser{Operator: "Rayo Envíos", Email: " Ana@Rayo.Example ", Name: "Ana Torres", Admin: true})
		require.NoError(t, err)
		require.Equal(t, models.RoleOperator, user.Role)
		stored := dbtest.Row[models.User](t, h.db, "email = ?", "ana@rayo.example")
		require.Equal(t, user.ID, stored.ID)
		require.True(t, stored.Active && stored.Admin)
		require.GreaterOrEqual(t, len(generated), 20, "a generated password cannot be guessed")
		require.True(t, credentials.PasswordMatches(stored.PasswordHash, generated))

		seller, generated, err := h.AddUser(t.Context(), operators.NewUser{
			Operator: operator.ID.String(), Email: "luz@sol.example", Name: "Luz", StoreID: &store, Password: "una clave larga",
		})
		require.NoError(t, err)
		require.Equal(t, models.RoleStore, seller.Role)
		require.Equal(t, &store, seller.StoreID)
		require.Empty(t, generated, "whoever gave a password knows it")
		require.True(t, credentials.PasswordMatches(seller.PasswordHash, "una clave larga"))

		_, _, err = h.AddUser(t.Context(), operators.NewUser{Operator: "Rayo Envíos", Email: "ANA@rayo.example", Name: "Otra"})
		require.ErrorIs(t, err, operators.ErrEmailTaken)
	})
}

func TestAddUser_refuses(t *testing.T) {
	t.Parallel()
	h := openWithCatalog(t, testenv.SQLite(t))
	operator, other := h.create(t, "Rayo Envíos"), h.create(t, "Andes Courier")
	store, closed, foreign := h.addStore(t, operator, true), h.addStore(t, operator, false), h.addStore(t, other, true)
	for name, tc := range map[string]struct {
		change func(*operators.NewUser)
		field  string
	}{
		"no address":              {func(u *operators.NewUser) { u.Email = "ana" }, "email"},
		"a name with the address": {func(u *operators.NewUser) { u.Email = "Ana <ana@rayo.example>" }, "email"},
		"two addresses":           {func(u *operators.NewUser) { u.Email = "a@x.example,b@x.example" }, "email"},
		"an endless address":      {func(u *operators.NewUser) { u.Email = strings.Repeat("a", 250) + "@x.example" }, "email"},
		"an address in two lines": {func(u *operators.NewUser) { u.Email = "ana@rayo.example\nx" }, "email"},
		"no name":                 {func(u *operators.NewUser) { u.Name = "" }, "name"},
		"a name in two lines":     {func(u *operators.NewUser) { u.Name = "Ana\nPaz" }, "name"},
		"a short password":        {func(u *operators.NewUser) { u.Password = "corta" }, "password"},
		"a store that closed":     {func(u *operators.NewUser) { u.StoreID = &closed }, "store_id"},
		"another's store":         {func(u *operators.NewUser) { u.StoreID = &foreign }, "store_id"},
		"a store's administrator": {func(u *operators.NewUser) { u.StoreID, u.Admin = &store, true }, "admin"},
	} {
		t.Run(name, func(t *testing.T) {
			in := operators.NewUser{Operator: "Rayo Envíos", Email: "ana@rayo.example", Name: "Ana"}
			tc.change(&in)
			_, _, err := h.AddUser(t.Context(), in)
			problem := apperror.From(err)
			require.Len(t, problem.Fields, 1, "%v", err)
			require.Equal(t, tc.field, problem.Fields[0].Field)
		})
	}
	_, _, err := h.AddUser(t.Context(), operators.NewUser{Operator: "Nadie", Email: "ana@rayo.example", Name: "Ana"})
	require.ErrorContains(t, err, "no operator")
	require.Empty(t, dbtest.Rows[models.User](t, h.db, "email = ?", "ana@rayo.example"), "what was refused left nothing behind")
}
