package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
	"despacho/test/testenv"
)

// withCatalog is onBothDatabases with the places of Lima.
func withCatalog(t *testing.T, run func(t *testing.T, database *db.DB)) {
	t.Helper()
	testenv.SkipIfShort(t)
	onBothDatabases(t, func(t *testing.T, database *db.DB) {
		countries, locations := catalog.Embedded()
		locations = slices.DeleteFunc(locations, func(place catalog.Location) bool { return place.City != "Lima" && place.City != "" })
		require.NoError(t, database.LoadCatalog(t.Context(), countries, locations))
		run(t, database)
	})
}

// initialize runs operator init with what it needs and more flags.
func initialize(t *testing.T, stdin string, more ...string) (setupView, error) {
	t.Helper()
	out, err := despacho(t, stdin, append([]string{"operator", "init", "--json"}, more...)...)
	var view setupView
	if err == nil {
		require.NoError(t, json.Unmarshal([]byte(out), &view), out)
	}
	return view, err
}

var initFlags = []string{"Rayo Envíos", "--email", "Ana@Rayo.example", "--person", "Ana Torres", "--store", "Zapatería Sol", "--base-price", "10", "--coverage", "-"}

// All that the first order needs is there, and the printed password and key are theirs.
func TestOperatorInit_createsEverything(t *testing.T) {
	withCatalog(t, func(t *testing.T, database *db.DB) {
		made, err := initialize(t, "ubigeo,precio\n150122,9.50\n150101,\n", initFlags...)
		require.NoError(t, err)
		require.Equal(t, models.PlanPro, made.Operator.Plan, "the plan with the API")
		require.Equal(t, "10.00", made.Operator.BasePrice.String())
		require.Equal(t, 2, made.Places)

		user := dbtest.Row[models.User](t, database, "email = ?", "ana@rayo.example")
		require.True(t, user.Administers())
		require.True(t, credentials.PasswordMatches(user.PasswordHash, made.Admin.Password))
		holder, _, err := database.Authenticate(t.Context(), credentials.Hash(made.Key.Key), time.Now().UTC(), uuid.Nil)
		require.NoError(t, err)
		require.Equal(t, made.Store.ID, *holder.Key.StoreID)
		require.False(t, holder.Key.Test)
		holder, _, err = database.Authenticate(t.Context(), credentials.Hash(made.TestKey.Key), time.Now().UTC(), uuid.Nil)
		require.NoError(t, err)
		require.Equal(t, made.Store.ID, *holder.Key.StoreID)
		require.True(t, holder.Key.Test)
		require.Len(t, dbtest.Rows[models.Coverage](t, database, "operator_id = ?", made.Operator.ID), 2)
		require.Len(t, dbtest.Rows[models.Branch](t, database, "operator_id = ?", made.Operator.ID), 1)
		require.Len(t, dbtest.Rows[models.Size](t, database, "operator_id = ?", made.Operator.ID), 3)
	})
}

// The names of operators and the e-mails of users are taken once: a second run makes nothing.
func TestOperatorInit_twice(t *testing.T) {
	withCatalog(t, func(t *testing.T, database *db.DB) {
		const file = "lugar;precio\nLima;12.50\n"
		table, err := despacho(t, file, append([]string{"operator", "init"}, initFlags...)...)
		require.NoError(t, err)
		require.Regexp(t, `(?m)^key\s+\S+\s+Integración\s+dsp_live_\w{32}`, table)
		for name, problem := range map[string]string{
			"RAYO ENVIOS": "there is an operator \"Rayo Envíos\" already", "Otro operador": "correo",
		} {
			_, err = initialize(t, file, append([]string{name}, initFlags[1:]...)...)
			require.ErrorContains(t, err, problem, name)
		}
		require.Len(t, dbtest.Rows[models.Operator](t, database, "TRUE"), 1)
		require.Len(t, dbtest.Rows[models.User](t, database, "TRUE"), 1)
	})
}

// What cannot be completed leaves nothing behind.
func TestOperatorInit_allOrNothing(t *testing.T) {
	withCatalog(t, func(t *testing.T, database *db.DB) {
		_, err := initialize(t, "ubigeo,precio\n150122,9.50\n999999,1\n", initFlags...)
		require.ErrorContains(t, err, "--coverage: Fila 3")
		all := dbtest.Rows[models.Operator](t, database, "TRUE")
		require.Empty(t, all)

		_, err = initialize(t, "", "Rayo Envíos", "--coverage", filepath.Join(t.TempDir(), "none.csv"))
		require.ErrorContains(t, err, `required flag(s) "email", "person", "store" not set`)
	})
}

// A file that is too large is refused as a whole: cut off, the last price would be another one.
func TestOperatorInit_coverageTooLarge(t *testing.T) {
	withCatalog(t, func(t *testing.T, database *db.DB) {
		// What fits ends after the first digit of the price.
		large := "lugar;precio\nLima;1"
		large = strings.Replace(large, "Lima", strings.Repeat("\n", maxTableFile-len(large))+"Lima", 1) + "2.50\n"
		file := filepath.Join(t.TempDir(), "cobertura.csv")
		require.NoError(t, os.WriteFile(file, []byte(large), 0o600))
		for _, from := range []string{"-", file} {
			_, err := initialize(t, large, append(slices.Clone(initFlags), "--coverage", from)...)
			require.ErrorContains(t, err, "--coverage: the file has more than 2 MiB")
		}
		all := dbtest.Rows[models.Operator](t, database, "TRUE")
		require.Empty(t, all)
	})
}
