package attacks

import (
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// sqlPayloads change a query that they are concatenated into.
var sqlPayloads = []string{
	`' OR '1'='1`, `'; DROP TABLE orders; --`, `") OR 1=1 --`, `%' OR search_text LIKE '%`, `\'; SELECT pg_sleep(10); --`, `1) UNION SELECT hash FROM api_keys --`,
	"$1", "?", ":name", "@p0", `{"$ne":null}`, `%`, `_`,
}

// parameters are what programs ask by, as the reference has them.
func parameters(t *testing.T) []string {
	t.Helper()
	document, err := apptest.Document()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, parameter := range slices.Concat(item.Parameters, operation.Parameters) {
				if parameter.Value.In == openapi3.ParameterInQuery {
					names[parameter.Value.Name] = true
				}
			}
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(names)), []string{"status", "page", "q", "codes", "webhook_id"})
	return slices.Sorted(maps.Keys(names))
}

// queryCall matches a handler's read of a query parameter.
var queryCall = regexp.MustCompile(`\.(?:Get|Default)?Query(?:Array)?\("([a-z_]+)"`)

// pageParameters are what the pages' addresses hold: every name that a handler asks for.
func pageParameters(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range queryCall.FindAllStringSubmatch(string(source), -1) {
			names[match[1]] = true
		}
		return err
	}))
	require.Subset(t, slices.Collect(maps.Keys(names)), []string{"estado", "q", "tienda", "id", "pagina", "siguiente"})
	return slices.Sorted(maps.Keys(names))
}

// A statement in any parameter is a value like any other: it is refused or finds nothing, and every
// table is still there.
func TestInjection_inEveryParameter(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		other := s.NewTenant(t)
		who := attacker{key: other.Key, token: other.SignInAs(t, &models.User{Admin: true})}
		before := v.state(t)
		turn, ofPrograms, ofPages := 0, parameters(t), pageParameters(t)
		for _, route := range routes(t) {
			if route.Method != http.MethodGet {
				continue
			}
			names := ofPrograms
			if isPage(route.Path) {
				names = ofPages
			}
			for _, name := range names {
				statement := sqlPayloads[turn%len(sqlPayloads)]
				turn++
				path := strings.NewReplacer(":id", url.PathEscape(statement), ":guide_code", url.PathEscape(statement), ":name", url.PathEscape(statement)).Replace(route.Path)
				what := route.Path + " with " + name + "=" + statement
				status, text := who.call(t, s, route.Method, path+"?"+url.Values{name: {statement}}.Encode(), nil)
				require.Less(t, status, 500, "%s: %s", what, text)
				v.requireHidden(t, what, text)
			}
		}
		require.Greater(t, turn, 500)
		require.Equal(t, before, v.state(t))
	})
}

// A statement in a text field is stored as it was written.
func TestInjection_inEveryField(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, statement := range sqlPayloads {
			created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{
				"recipient_name": statement, "delivery_address": statement, "delivery_reference": statement, "product": statement, "notes": statement, "external_id": statement,
			}), Header: map[string]string{"Idempotency-Key": uuid.NewString() + strings.ReplaceAll(statement, `"`, "")}})
			require.Equal(t, http.StatusCreated, created.Status, created.Text)
			read := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + created.String("id"), Key: tenant.Key})
			for _, field := range []string{"recipient_name", "delivery_address", "delivery_reference", "product", "notes", "external_id"} {
				require.Equal(t, statement, read.String(field), field)
			}
			for _, field := range []string{"store_id", "branch_id", "location_id", "payment_type", "delivery_type", "recipient_doc_type", "recipient_phone"} {
				refused := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{field: statement})})
				require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, refused.Status, "%s: %s", field, refused.Text)
			}
		}
	})
}
