package apptest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// What keeps every other test honest has to notice a difference itself.
func TestConforms_namesWhatIsNotAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	const store = `{"id":"7d3f0a52-4c1e-4b8f-9a60-2f5d8e1c7b34","name":"Zapatería Rosa","active":true}`
	keyed := map[string]string{
		"Content-Type": "application/json; charset=utf-8", "X-Request-Id": "r-1",
		"RateLimit-Policy": `"minute";q=100;w=60`, "RateLimit": `"minute";r=99;t=17`,
	}
	changed := func(name, value string) map[string]string {
		headers := map[string]string{}
		for known, kept := range keyed {
			headers[known] = kept
		}
		if headers[name] = value; value == "" {
			delete(headers, name)
		}
		return headers
	}
	for name, c := range map[string]struct {
		method, path string
		status       int
		headers      map[string]string
		body         string
		complaint    string
	}{
		"as documented":             {"GET", "/v1/stores", 200, keyed, `{"data":[` + store + `]}`, ""},
		"an empty list":             {"GET", "/v1/stores", 200, keyed, `{"data":[]}`, ""},
		"an unknown path":           {"GET", "/v1/nothing", 418, nil, `no`, ""},
		"an unknown method":         {"PUT", "/v1/stores", 418, nil, `no`, ""},
		"an undocumented status":    {"GET", "/v1/stores", 202, keyed, `{"data":[]}`, "status is not supported"},
		"a missing member":          {"GET", "/v1/stores", 200, keyed, `{"data":[{"id":"7d3f0a52-4c1e-4b8f-9a60-2f5d8e1c7b34","name":"x"}]}`, `at /data/0/active`},
		"an undocumented member":    {"GET", "/v1/stores", 200, keyed, `{"data":[],"extra":1}`, `"extra" is unsupported`},
		"a nested one":              {"GET", "/v1/stores", 200, keyed, `{"data":[{"x":1,` + store[1:] + `]}`, `"x" is unsupported`},
		"a null that may not be":    {"GET", "/v1/stores", 200, keyed, `{"data":null}`, "at /data"},
		"a text that is no UUID":    {"GET", "/v1/stores", 200, keyed, `{"data":[{"id":"7","name":"x","active":true}]}`, "at /data/0/id"},
		"a missing header":          {"GET", "/v1/stores", 200, changed("RateLimit", ""), `{"data":[]}`, `header "RateLimit" missing`},
		"a malformed header":        {"GET", "/v1/stores", 200, changed("RateLimit", "99"), `{"data":[]}`, `header "RateLimit"`},
		"an undocumented header":    {"GET", "/v1/stores", 200, changed("X-Extra", "1"), `{"data":[]}`, "header X-Extra is not documented"},
		"another media type":        {"GET", "/v1/stores", 200, changed("Content-Type", "text/plain"), `{"data":[]}`, "Content-Type"},
		"an error without its code": {"GET", "/v1/stores", 403, keyed, `{"error":"No."}`, "at /code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			for known, value := range c.headers {
				header.Set(known, value)
			}
			request := httptest.NewRequest(c.method, "http://127.0.0.1:8080"+c.path, nil)
			err := conforms(request, &Answer{Status: c.status, Header: header, Text: c.body})
			if c.complaint == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.complaint)
			require.ErrorContains(t, err, c.path, "the error names the operation")
		})
	}
}
