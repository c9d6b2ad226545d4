package docs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const createProgram = `import json, sys
from create_order import Refused, create_order
given = json.load(sys.stdin)
try:
    order = create_order(given["url"], "dsp_live_test", "sale-20391", {"product": "Zapatillas"}, attempts=4, wait=0.01)
    print(json.dumps({"id": order["id"]}))
except Refused as refused:
    print(json.dumps({"refused": refused.args[0]["code"]}))
except TimeoutError:
    print(json.dumps({"gave_up": True}))
`

// scripted answers one request after another; 0 hangs up without an answer.
type scripted struct {
	mu       sync.Mutex
	statuses []int
	seen     []string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(s.statuses) == 0 {
		panic(http.ErrAbortHandler)
	}
	s.seen = append(s.seen, r.Header.Get("Idempotency-Key")+" "+string(body))
	status := s.statuses[0]
	s.statuses = s.statuses[1:]
	switch {
	case status == 0:
		panic(http.ErrAbortHandler)
	case status == http.StatusBadGateway:
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>a proxy's own page</html>")
	case status < 300:
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"data":{"id":"019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68"}}`)
	default:
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":"No.","code":"some_code"}`)
	}
}

// The creation snippet asks again with the same key and the same body where that helps, and only
// there.
func TestIntegrate_creationSnippetRetries(t *testing.T) {
	t.Parallel()
	created := map[string]any{"id": "019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68"}
	refused := map[string]any{"refused": "some_code"}
	for name, c := range map[string]struct {
		statuses []int
		outcome  map[string]any
		asked    int
	}{
		"at once":               {[]int{201}, created, 1},
		"after lost answers":    {[]int{0, 0, 201}, created, 3},
		"after server errors":   {[]int{500, 502, 503, 201}, created, 4},
		"while in progress":     {[]int{409, 201}, created, 2},
		"after a full minute":   {[]int{429, 201}, created, 2},
		"400 is not repeated":   {[]int{400, 201}, refused, 1},
		"401 is not repeated":   {[]int{401, 201}, refused, 1},
		"403 is not repeated":   {[]int{403, 201}, refused, 1},
		"422 is not repeated":   {[]int{422, 201}, refused, 1},
		"gives up in the end":   {[]int{500, 500, 500, 500, 201}, map[string]any{"gave_up": true}, 4},
		"hung up and then 422":  {[]int{0, 422}, refused, 2},
		"busy, refused, no 201": {[]int{409, 409, 400, 201}, refused, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &scripted{statuses: c.statuses}
			server := httptest.NewServer(service)
			t.Cleanup(server.Close)
			directory := t.TempDir()
			snippet(t, "create_order.py", directory)
			write(t, filepath.Join(directory, "main.py"), createProgram)

			var outcome map[string]any
			runIn(t, directory, map[string]string{"url": server.URL}, &outcome, "python3", "main.py")
			require.Equal(t, c.outcome, outcome)
			require.Len(t, service.seen, c.asked)
			for _, request := range service.seen {
				require.Equal(t, `sale-20391 {"product": "Zapatillas"}`, request)
			}
		})
	}
}
