package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) {
	healthTimeout = poll.Deadline
	testenv.Main(m, removeBinary)
}

// onBothDatabases runs a test of the command line on either database. The command line takes its
// database from the environment, so these tests cannot run side by side.
func onBothDatabases(t *testing.T, run func(t *testing.T, database *db.DB)) {
	t.Helper()
	for name, create := range map[string]func(testing.TB) string{"sqlite": testenv.SQLite, "postgres": testenv.Postgres} {
		t.Run(name, func(t *testing.T) {
			databaseURL := create(t)
			t.Setenv("DATABASE_URL", databaseURL)
			database, err := db.Open(t.Context(), databaseURL, db.Options{ConnectTimeout: poll.Deadline})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, database.Close()) })
			countries, locations := catalog.Embedded()
			require.NoError(t, database.LoadCatalog(t.Context(), countries, locations[:len(countries)]))
			run(t, database)
		})
	}
}

// despacho runs a command line as main does and returns what it printed.
func despacho(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func mustPrint[T any](t *testing.T, args ...string) T {
	t.Helper()
	out, err := despacho(t, "", append(args, "--json")...)
	require.NoError(t, err)
	var value T
	require.NoError(t, json.Unmarshal([]byte(out), &value), out)
	return value
}

func TestOperatorCommand_fromCreationToSuspension(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		out, err := despacho(t, "", "operator", "list")
		require.NoError(t, err)
		require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 1, "a heading and nobody below it")
		require.Equal(t, []operatorView{}, mustPrint[[]operatorView](t, "operator", "list"))

		created := mustPrint[operatorView](t, "operator", "create", "Rayo Envíos", "--base-price", "12.50", "--plan", "pro")
		require.Equal(t, "PEN", created.Currency)
		require.Equal(t, "12.50", created.BasePrice.String())

		table, err := despacho(t, "", "operator", "list")
		require.NoError(t, err)
		require.Regexp(t, `(?m)^ID\s+NAME\s+COUNTRY\s+TIME ZONE\s+CURRENCY\s+PLAN\s+BASE PRICE\s+SUSPENDED$`, table)
		require.Regexp(t, `(?m)^`+created.ID.String()+`\s+Rayo Envíos\s+PE\s+America/Lima\s+PEN\s+pro\s+12.50\s+no$`, table)

		require.Equal(t, models.PlanBusiness, mustPrint[operatorView](t, "operator", "plan", "rayo envíos", "business").Plan)
		require.NotNil(t, mustPrint[operatorView](t, "operator", "suspend", created.ID.String()).SuspendedAt)
		stored, err := database.Operator(t.Context(), created.ID)
		require.NoError(t, err)
		require.True(t, stored.Suspended())
		out, err = despacho(t, "", "operator", "list")
		require.NoError(t, err)
		require.Contains(t, out, "since 20")
		require.Nil(t, mustPrint[operatorView](t, "operator", "resume", "Rayo Envíos").SuspendedAt)
	})
}

func TestOperatorCommand_userAdd(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		operator := mustPrint[operatorView](t, "operator", "create", "Rayo Envíos")
		store := models.Store{ID: uuid.New(), OperatorID: operator.ID, Name: "Zapatería Sol", Active: true, CreatedAt: operator.CreatedAt}
		require.NoError(t, database.ChangeSettings(t.Context(), operator.ID, func(tx *db.DB) error { return tx.Insert(t.Context(), &store) }))

		user := mustPrint[userView](t, "operator", "user", "add", "--operator", operator.ID.String(), "--email", "Ana@Rayo.example", "--name", "Ana", "--admin")
		require.Equal(t, "ana@rayo.example", user.Email)
		require.True(t, user.Admin)
		stored := dbtest.Row[models.User](t, database, "email = ?", user.Email)
		require.True(t, credentials.PasswordMatches(stored.PasswordHash, user.Password), "the printed password opens the panel")

		out, err := despacho(t, "una clave larga\n", "operator", "user", "add", "--operator", "Rayo Envíos", "--email", "luz@sol.example",
			"--name", "Luz", "--store", store.ID.String(), "--password-stdin")
		require.NoError(t, err)
		require.NotContains(t, out, "una clave larga", "a password that was given is not echoed")
		require.NotContains(t, out, "PASSWORD")
		stored = dbtest.Row[models.User](t, database, "email = ?", "luz@sol.example")
		require.Equal(t, models.RoleStore, stored.Role)
		require.True(t, credentials.PasswordMatches(stored.PasswordHash, "una clave larga"))

		table, err := despacho(t, "", "operator", "user", "add", "--operator", "Rayo Envíos", "--email", "leo@rayo.example", "--name", "Leo")
		require.NoError(t, err)
		require.Regexp(t, `(?m)^ID\s+E-MAIL\s+NAME\s+ROLE\s+ADMIN\s+GRANTS\s+PASSWORD \(shown once\)$`, table)
		clerk := mustPrint[userView](t, "operator", "user", "add", "--operator", "Rayo Envíos", "--email", "zoe@rayo.example", "--name", "Zoe",
			"--grants", "dispatch,cash")
		require.Equal(t, []models.Grant{models.GrantDispatch, models.GrantCash}, clerk.Grants)
		_, err = despacho(t, "", "operator", "user", "add", "--operator", "Rayo Envíos", "--email", "mia@rayo.example", "--name", "Mia",
			"--grants", "everything")
		require.ErrorContains(t, err, "grants")
		require.Regexp(t, `leo@rayo.example\s+Leo\s+operator\s+false\s+counter\s+[A-Z2-7]{26}`, table)
	})
}

func TestOperatorCommand_userReset(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		t.Setenv("BASE_URL", "https://despacho.example")
		mustPrint[operatorView](t, "operator", "create", "Rayo Envíos")
		added := mustPrint[userView](t, "operator", "user", "add", "--operator", "Rayo Envíos", "--email", "ana@rayo.example", "--name", "Ana")
		now := time.Now().UTC().Truncate(time.Microsecond)
		require.NoError(t, database.Query(t.Context()).Model(&models.User{ID: added.ID}).
			Updates(map[string]any{"totp_secret": []byte("sealed"), "totp_confirmed_at": now}).Error)
		require.NoError(t, database.Insert(t.Context(), &models.RecoveryCode{UserID: added.ID, Hash: []byte{1}}))

		reset := mustPrint[resetView](t, "operator", "user", "reset", "--email", " Ana@Rayo.example ")
		require.Equal(t, "ana@rayo.example", reset.Email)
		token, found := strings.CutPrefix(reset.Link, "https://despacho.example/panel/restablecer?codigo=")
		require.True(t, found, reset.Link)
		user := dbtest.Row[models.User](t, database, "id IN (SELECT user_id FROM password_resets WHERE token_hash = ?)", credentials.Hash(token))
		require.False(t, credentials.PasswordMatches(user.PasswordHash, added.Password), "the old password ends")
		require.True(t, user.HasSecondFactor(), "unless it is asked for, the second factor stays")

		out, err := despacho(t, "", "operator", "user", "reset", "--email", "ana@rayo.example", "--second-factor")
		require.NoError(t, err)
		require.Regexp(t, `(?m)^E-MAIL\s+EXPIRES\s+LINK \(shown once\)$`, out)
		user = dbtest.Row[models.User](t, database, "email = ?", "ana@rayo.example")
		require.False(t, user.HasSecondFactor())
		require.Empty(t, dbtest.Rows[models.PasswordReset](t, database, "token_hash = ?", credentials.Hash(token)), "the first link was replaced")
		require.Empty(t, dbtest.Rows[models.RecoveryCode](t, database, "user_id = ?", user.ID))

		_, err = despacho(t, "", "operator", "user", "reset", "--email", "nadie@rayo.example")
		require.ErrorContains(t, err, "there is no user with the e-mail nadie@rayo.example")
	})
}

// A link of the machine's own address would lead nowhere, and the password would be gone.
func TestOperatorCommand_userResetNeedsTheAddressOfTheService(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		t.Setenv("BASE_URL", "")
		mustPrint[operatorView](t, "operator", "create", "Rayo Envíos")
		added := mustPrint[userView](t, "operator", "user", "add", "--operator", "Rayo Envíos", "--email", "ana@rayo.example", "--name", "Ana")
		_, err := despacho(t, "", "operator", "user", "reset", "--email", "ana@rayo.example", "--second-factor")
		require.ErrorContains(t, err, "BASE_URL is required")
		user := dbtest.Row[models.User](t, database, "email = ?", "ana@rayo.example")
		require.True(t, credentials.PasswordMatches(user.PasswordHash, added.Password), "nothing has changed")
	})
}

func TestOperatorCommand_aMistakeIsOneClearLine(t *testing.T) {
	t.Setenv("DATABASE_URL", testenv.SQLite(t))
	add := []string{"operator", "user", "add", "--operator", "Rayo", "--email", "a@x.example", "--name", "A"}
	for want, line := range map[string][]string{
		"despacho migrate up":           {"operator", "create", "Rayo"},
		`unknown command "delete"`:      {"operator", "delete", "Rayo"},
		"accepts 1 arg(s), received 0":  {"operator", "create"},
		"999999.99":                     {"operator", "create", "Rayo", "--base-price", "doce"},
		`there is no operator "Rayo"`:   {"operator", "suspend", "Rayo"},
		`"gold" is not a plan`:          {"operator", "plan", "Rayo", "gold"},
		`required flag(s) "email"`:      {"operator", "user", "add", "--operator", "Rayo", "--name", "A"},
		"--store must be a UUID":        append(add, "--store", "Sol"),
		"no password on standard input": append(add, "--password-stdin"),
	} {
		_, err := despacho(t, "", line...)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestOperatorCommand_needsADatabase(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	_, err := despacho(t, "", "operator", "list")
	require.ErrorContains(t, err, "DATABASE_URL is required")
}
