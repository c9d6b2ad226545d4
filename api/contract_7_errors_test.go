package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

var (
	snakeCase = regexp.MustCompile(`^[a-z]+(_[a-z0-9]+)*$`)
	// Internal details that help an attacker and not an integrator.
	internals = regexp.MustCompile(`(?i)sql|gorm|pgx|postgres|goroutine|\.go\b|panic|temporal|workflow|uuid:|syntax|unexpected|constraint|stack|127\.0\.0\.1|/work|/tmp`)
)

// requireError demands the form of every error: a sentence in Spanish for display, a stable code,
// nothing of the inside.
func requireError(t *testing.T, answer *apptest.Answer, status int, code string) {
	t.Helper()
	require.Equal(t, status, answer.Status, answer.Text)
	require.Equal(t, code, answer.Code, answer.Text)
	require.Regexp(t, snakeCase, answer.Code)
	require.Regexp(t, `^\p{Lu}.*\.$`, answer.Error, "a whole sentence")
	require.NotRegexp(t, internals, answer.Text)
	for _, member := range members(t, answer.Text) {
		require.Contains(t, []string{"error", "code", "fields"}, member)
	}
}

// The table of section 7, row by row.
func TestContract_7_table(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		readOnly := tenant.NewKey(t, models.APIKey{}, models.ScopeReadOrders)
		basic, blocked := s.NewTenant(t, apptest.OnPlan(models.PlanBasic)), s.NewTenant(t, suspended)
		noTariff := s.NewTenant(t, func(o *models.Operator) { o.BasePrice = nil })
		usedUp := s.NewTenant(t, apptest.OnPlan(models.PlanPro))
		exhaustRate(t, s, usedUp.Key, 100)
		insertKey(t, s, tenant.Key, "en proceso", orderBody("x"))
		once(t, s, tenant.Key, "usada", orderBody("x"))
		other := s.CreateOrder(t, tenant.KeyB)
		post := func(key string, changes map[string]any, header map[string]string) apptest.Request {
			return apptest.Request{Method: "POST", Path: "/v1/orders", Key: key, Body: apptest.Order(changes), Header: header}
		}
		for name, c := range map[string]struct {
			request apptest.Request
			status  int
			code    string
		}{
			"400 missing required field":      {post(tenant.Key, map[string]any{"product": nil}, nil), 400, "invalid_fields"},
			"400 unparseable JSON":            {apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Raw: []byte("{")}, 400, "invalid_json"},
			"401 no key":                      {post("", nil, ownAddress()), 401, "invalid_api_key"},
			"401 invalid key":                 {post("dsp_live_x", nil, ownAddress()), 401, "invalid_api_key"},
			"403 scope":                       {post(readOnly, nil, nil), 403, "missing_scope"},
			"403 plan":                        {post(basic.Key, nil, nil), 403, "plan_without_api"},
			"403 suspended":                   {post(blocked.Key, nil, nil), 403, "operator_suspended"},
			"404 order does not exist":        {apptest.Request{Method: "GET", Path: "/v1/orders/" + uuid.NewString(), Key: tenant.Key}, 404, "order_not_found"},
			"404 order of another store":      {apptest.Request{Method: "GET", Path: "/v1/orders/" + other, Key: tenant.KeyA}, 404, "order_not_found"},
			"409 Idempotency-Key in progress": {apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Raw: []byte(orderBody("x")), Header: map[string]string{"Idempotency-Key": "en proceso"}}, 409, "idempotency_in_progress"},
			"422 Idempotency-Key reused":      {post(tenant.Key, nil, map[string]string{"Idempotency-Key": "usada"}), 422, "idempotency_key_reused"},
			"422 not covered":                 {post(tenant.Key, map[string]any{"location_id": apptest.Cusco}, nil), 422, "not_covered"},
			"422 no tariff":                   {post(noTariff.Key, map[string]any{"location_id": apptest.Surco}, nil), 422, "no_tariff"},
			"429 rate":                        {post(usedUp.Key, nil, nil), 429, "rate_limited"},
			"unknown route":                   {apptest.Request{Method: "GET", Path: "/nada"}, 404, "route_not_found"},
			"unknown method":                  {apptest.Request{Method: "PUT", Path: "/v1/orders"}, 405, "method_not_allowed"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				requireError(t, s.Do(t, c.request), c.status, c.code)
			})
		}
	})
}

// 400: cancelling an order no longer in registered, with the reason in words.
func TestContract_7_cancelTooLate(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.Key)
		require.Equal(t, http.StatusOK, cancelOrder(t, s, tenant.Key, id, nil).Status)
		late := cancelOrder(t, s, tenant.Key, id, nil)
		requireError(t, late, http.StatusBadRequest, "move_not_allowed")
		require.Contains(t, late.Error, "Cancelado")
	})
}

// 5xx: when no worker runs, a cancel is answered with 503 and when to try again;
// reads and creations go on.
func TestContract_7_5xx_workersDown(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.Key)
		answer := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: tenant.Key})
		requireError(t, answer, http.StatusServiceUnavailable, "try_again")
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
		require.Equal(t, "registered", get(t, s, tenant.Key, "/v1/orders/"+id).String("status"))
	})
}

// 5xx: without its database the service says that something failed, and nothing of what.
func TestContract_7_5xx_databaseDown(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true})
		tenant := s.NewTenant(t)
		require.NoError(t, s.App.DB.Close())
		for _, request := range []apptest.Request{
			{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()}, {Method: "GET", Path: "/v1/orders", Key: tenant.Key},
			{Method: "GET", Path: "/v1/track/00000-000000"}, {Method: "GET", Path: "/public/cities?country_code=PE"},
		} {
			requireError(t, s.Do(t, request), http.StatusInternalServerError, "internal_error")
		}
	})
}

// withField is a creation request with one field's JSON replaced, or added, as it is written.
func withField(name, value string) string {
	fields := map[string]string{
		"recipient_name": `"Rosa"`, "recipient_phone": `"987654321"`, "delivery_address": `"Av. Larco 345"`,
		"location_id": `"` + apptest.Miraflores.String() + `"`, "product": `"Zapatillas"`,
	}
	fields[name] = value
	parts := make([]string, 0, len(fields))
	for field, json := range fields {
		parts = append(parts, `"`+field+`":`+json)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Bad input of every kind is met with a clear 4xx that names the field where there is one, and
// creates nothing.
func TestContract_7_badInput(t *testing.T) {
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for name, c := range map[string]struct {
			body   string
			status int
			code   string
			fields []string
		}{
			"empty":                       {"", 400, "empty_body", nil},
			"white space":                 {" \n\t ", 400, "empty_body", nil},
			"unparseable":                 {"hola", 400, "invalid_json", nil},
			"a form":                      {"recipient_name=Rosa&product=x", 400, "invalid_json", nil},
			"XML":                         {"<order/>", 400, "invalid_json", nil},
			"single quotes":               {"{'product':'x'}", 400, "invalid_json", nil},
			"comment":                     {`{/* x */"product":"x"}`, 400, "invalid_json", nil},
			"trailing comma":              {`{"product":"x",}`, 400, "invalid_json", nil},
			"byte order mark":             {"\ufeff" + withField("product", `"x"`), 400, "invalid_json", nil},
			"truncated object":            {withField("product", `"x"`)[:80], 400, "invalid_json", nil},
			"truncated text":              {`{"product":"Zapa`, 400, "invalid_json", nil},
			"truncated escape":            {`{"product":"\u00`, 400, "invalid_json", nil},
			"null":                        {"null", 400, "not_an_object", nil},
			"array for object":            {"[" + withField("product", `"x"`) + "]", 400, "not_an_object", nil},
			"text":                        {`"hola"`, 400, "not_an_object", nil},
			"number":                      {"5", 400, "not_an_object", nil},
			"NaN":                         {withField("amount_to_collect", "NaN"), 400, "invalid_json", nil},
			"Infinity":                    {withField("delivery_lat", "Infinity"), 400, "invalid_json", nil},
			"-Infinity":                   {withField("delivery_lat", "-Infinity"), 400, "invalid_json", nil},
			"leading zero":                {withField("amount_to_collect", "012"), 400, "invalid_json", nil},
			"hexadecimal":                 {withField("amount_to_collect", "0x10"), 400, "invalid_json", nil},
			"trailing object":             {withField("product", `"x"`) + `{}`, 400, "trailing_data", nil},
			"trailing garbage":            {withField("product", `"x"`) + `x`, 400, "trailing_data", nil},
			"trailing NUL":                {withField("product", `"x"`) + "\x00", 400, "trailing_data", nil},
			"duplicate member":            {strings.Replace(withField("product", `"x"`), "{", `{"product":"y",`, 1), 400, "duplicate_member", nil},
			"duplicate, escaped":          {strings.Replace(withField("product", `"x"`), "{", `{"\u0070roduct":"y",`, 1), 400, "duplicate_member", nil},
			"duplicate in an inner one":   {withField("extra", `{"a":1,"a":2}`), 400, "duplicate_member", nil},
			"invalid UTF-8":               {withField("product", "\"a\xff\xfeb\""), 400, "invalid_json", nil},
			"overlong UTF-8":              {withField("product", "\"a\xc0\xafb\""), 400, "invalid_json", nil},
			"UTF-8 of a surrogate":        {withField("product", "\"a\xed\xa0\x80b\""), 400, "invalid_json", nil},
			"invalid UTF-8 in a name":     {withField("\xff", "1"), 400, "invalid_json", nil},
			"UTF-16":                      {"\xff\xfe{\x00}\x00", 400, "invalid_json", nil},
			"lone surrogate":              {withField("product", `"a\ud800b"`), 400, "invalid_json", nil},
			"lone low surrogate":          {withField("product", `"\udc00"`), 400, "invalid_json", nil},
			"raw NUL in a text":           {withField("product", "\"a\x00b\""), 400, "invalid_json", nil},
			"raw line break in a text":    {withField("notes", "\"a\nb\""), 400, "invalid_json", nil},
			"deep nesting":                {withField("extra", nested(1000)), 400, "invalid_json", nil},
			"very deep nesting":           {withField("extra", nested(100_000)), 400, "invalid_json", nil},
			"deep nesting, never closed":  {`{"extra":` + strings.Repeat(`{"a":`, 40_000), 400, "invalid_json", nil},
			"escaped NUL":                 {withField("product", `"a\u0000b"`), 400, "invalid_fields", []string{"product"}},
			"escaped control character":   {withField("recipient_name", `"a\u001bb"`), 400, "invalid_fields", []string{"recipient_name"}},
			"null for a required field":   {withField("product", "null"), 400, "invalid_fields", []string{"product"}},
			"number for text":             {withField("product", "5"), 400, "invalid_fields", []string{"product"}},
			"boolean for text":            {withField("recipient_name", "true"), 400, "invalid_fields", []string{"recipient_name"}},
			"array for text":              {withField("delivery_address", `["Av. Larco"]`), 400, "invalid_fields", []string{"delivery_address"}},
			"object for text":             {withField("notes", `{}`), 400, "invalid_fields", []string{"notes"}},
			"text for a number":           {withField("amount_to_collect", `"50"`), 400, "invalid_fields", []string{"amount_to_collect"}},
			"boolean for a number":        {withField("amount_to_collect", "false"), 400, "invalid_fields", []string{"amount_to_collect"}},
			"huge number":                 {withField("amount_to_collect", "1"+strings.Repeat("0", 400)), 400, "invalid_fields", []string{"amount_to_collect"}},
			"huge exponent":               {withField("amount_to_collect", "1e999999999"), 400, "invalid_fields", []string{"amount_to_collect"}},
			"tiny exponent":               {withField("amount_to_collect", "1e-999999999"), 400, "invalid_fields", []string{"amount_to_collect"}},
			"negative number":             {withField("amount_to_collect", "-50"), 400, "invalid_fields", []string{"amount_to_collect"}},
			"huge latitude":               {strings.Replace(withField("delivery_lat", "1e308"), "{", `{"delivery_lng":0,`, 1), 400, "invalid_fields", []string{"delivery_lat"}},
			"unknown recipient_doc_type":  {withField("recipient_doc_type", `"ruc"`), 400, "invalid_fields", []string{"recipient_doc_type"}},
			"unknown delivery_type":       {withField("delivery_type", `"drone"`), 400, "invalid_fields", []string{"delivery_type"}},
			"unknown payment_type":        {withField("payment_type", `"bitcoin"`), 400, "invalid_fields", []string{"payment_type"}},
			"text that is far too long":   {withField("notes", `"`+strings.Repeat("x", 100_000)+`"`), 400, "invalid_fields", []string{"notes"}},
			"location_id is no UUID":      {withField("location_id", `"1 OR 1=1"`), 400, "invalid_fields", []string{"location_id"}},
			"just over 256 KiB":           {withField("extra", `"`+strings.Repeat("x", 256<<10)+`"`), 413, "body_too_large", nil},
			"1 MB":                        {withField("extra", `"`+strings.Repeat("x", 1<<20)+`"`), 413, "body_too_large", nil},
			"1 MB of white space":         {strings.Repeat(" ", 1<<20), 413, "body_too_large", nil},
			"1 MB that would not parse":   {strings.Repeat("[", 1<<20), 413, "body_too_large", nil},
			"location_id of no catalog":   {withField("location_id", `"ffffffff-ffff-ffff-ffff-ffffffffffff"`), 422, "not_covered", nil},
			"absurd country in the phone": {withField("recipient_phone", `"+000000000000"`), 400, "invalid_fields", []string{"recipient_phone"}},
		} {
			t.Run(name, func(t *testing.T) {
				answer := s.Do(t, apptest.Request{
					Method: "POST", Path: "/v1/orders", Key: tenant.Key, Raw: []byte(c.body), Header: map[string]string{"Content-Type": "application/json"},
				})
				requireError(t, answer, c.status, c.code)
				require.ElementsMatch(t, c.fields, answer.Fields, answer.Text)
			})
		}
		require.Zero(t, countOrders(t, s, tenant), "no side effect")
	})
}
