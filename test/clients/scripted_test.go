package clients

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// answer is what a server answers to one request.
type answer struct {
	Status     int    `yaml:"status"` // 0 hangs up
	Code       string `yaml:"code"`
	RetryAfter string `yaml:"retry_after"`
	// RetryAt is a Retry-After date, so many seconds from now.
	RetryAt  int    `yaml:"retry_at"`
	Location string `yaml:"location"`
	Cut      bool   `yaml:"cut"`
	HTML     bool   `yaml:"html"`
	Body     any    `yaml:"body"`
	// Page is the page of a list that is asked for.
	Page string `yaml:"page"`
}

// scripted gives one answer after another.
type scripted struct {
	mu      sync.Mutex
	answers []answer
	seen    []string
	pages   []string
	bodies  []string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("X-API-Key"), r.Header.Get("Idempotency-Key"), string(body)}, " "))
	s.pages = append(s.pages, r.URL.Query().Get("page"))
	s.bodies = append(s.bodies, string(body))
	if err != nil || len(s.answers) == 0 {
		panic(http.ErrAbortHandler)
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	if next.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	next.write(w)
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Connection", "close") // a client may not repeat by itself what a kept connection lost
	for name, value := range map[string]string{"Retry-After": a.RetryAfter, "Location": a.Location} {
		if value != "" {
			w.Header().Set(name, value)
		}
	}
	if a.RetryAt != 0 {
		w.Header().Set("Retry-After", time.Now().Add(time.Duration(a.RetryAt)*time.Second).UTC().Format(http.TimeFormat))
	}
	if a.HTML {
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, "<html>a proxy's own page</html>")
		return
	}
	body := a.Body
	switch {
	case body != nil:
	case a.Status < 300:
		body = map[string]any{"data": map[string]any{"id": "019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68"}}
	default:
		body = map[string]any{"error": "No.", "code": a.Code}
	}
	content, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if a.Cut {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(a.Status)
		_, _ = w.Write(content[:len(content)/2])
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(content)
}

// Every client asks again where that helps and does no harm, and only there.
func TestScripted(t *testing.T) {
	t.Parallel()
	cases, err := table()
	require.NoError(t, err)
	require.NotEmpty(t, cases.Scripted)
	eachLanguage(t, func(t *testing.T, r *runner) {
		for _, c := range cases.Scripted {
			service := &scripted{answers: c.Answers}
			server := httptest.NewServer(service)
			if c.With == nil && c.Call == "create_order" {
				c.With = map[string]any{"key": "venta-20391", "order": map[string]any{"product": "Zapatillas", "recipient_name": "Rosa Díaz"}}
			}
			key := "dsp_live_test"
			if c.Key != nil {
				key = *c.Key
			}
			o := r.callWith(t, c.Options, server.URL, key, c.Call, c.With)
			server.Close()
			c.require(t, o)
			require.Len(t, service.seen, len(c.Answers), c.Name)
			for i, answer := range c.Answers {
				require.Equal(t, answer.Page, service.pages[i], c.Name)
			}
			if c.Call == "create_order" && len(c.Answers) > 0 {
				require.Contains(t, service.seen[0], "POST /v1/orders dsp_live_test venta-20391 {", c.Name)
				for _, request := range service.seen {
					require.Equal(t, service.seen[0], request, c.Name)
				}
			}
			if c.Sent != nil {
				sent, err := json.Marshal(c.Sent)
				require.NoError(t, err)
				for _, body := range service.bodies {
					require.JSONEq(t, string(sent), body, c.Name)
				}
			}
			require.Len(t, o.Waits, len(c.Waits), c.Name)
			for i, want := range c.Waits {
				require.InDelta(t, want, o.Waits[i], 0.2*want+0.001, c.Name)
			}
		}
	})
}

// An address that leads nowhere is no lost answer: nothing was sent, and trying again does not
// help.
func TestAddressWithoutScheme(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, r *runner) {
		order := map[string]any{"key": "venta-20391", "order": map[string]any{"product": "Zapatillas"}}
		for _, address := range []string{"localhost:8080", "despacho.example", ""} {
			o := r.call(t, address, "dsp_live_test", "create_order", order)
			require.NotEmpty(t, o.Other, address)
			require.False(t, o.NoAnswer, address)
			require.Empty(t, o.Waits, address)
		}
	})
}

// The timeout of a client is for the whole answer: one that comes byte after byte, each in time, is
// not waited for.
func TestSlowAnswer(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, r *runner) {
		r.timeout = time.Second
		for _, status := range []int{http.StatusOK, http.StatusNotFound} {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				w.WriteHeader(status)
				often := time.NewTicker(r.timeout / 10)
				defer often.Stop()
				for range 50 {
					_, _ = io.WriteString(w, " ")
					_ = http.NewResponseController(w).Flush()
					select {
					case <-often.C:
					case <-req.Context().Done():
						return // the client has given up
					}
				}
				_, _ = io.WriteString(w, `{"data":{"id":"019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68"},"code":"order_not_found"}`)
			}))
			t.Cleanup(service.Close)

			o := r.callWith(t, map[string]any{"attempts": 1}, service.URL, "dsp_live_test", "get_order", map[string]any{"id": "019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68"})

			require.Empty(t, o.Other)
			require.Nil(t, o.Result)
			if refused, isRefused := o.Error.(map[string]any); isRefused {
				require.Empty(t, refused["code"], "the status says enough")
			} else {
				require.True(t, o.NoAnswer)
			}
		}
	})
}

// Whoever lets the service wait for the next event, for up to 20 seconds, gets its answer also when
// it comes later than any other answer may.
func TestEvents_waitedForLongerThanTheTimeout(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, r *runner) {
		r.timeout = time.Second
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Query().Get("wait") != "20" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			select {
			case <-req.Context().Done(): // the client has given up
			case <-time.After(r.timeout * 3 / 2):
				_, _ = io.WriteString(w, `{"data":{"events":[],"cursor":"019a8f3e-6c20-7a11-8f3e-2b7c9d1e5f60","more":false}}`)
			}
		}))
		t.Cleanup(service.Close)

		o := r.callWith(t, map[string]any{"attempts": 1}, service.URL, "dsp_live_test", "events", map[string]any{"wait": 20})

		require.False(t, o.NoAnswer)
		require.Nil(t, o.Error)
		require.Empty(t, o.Other)
		requirePart(t, "the answer", map[string]any{"events": []any{}, "cursor": "019a8f3e-6c20-7a11-8f3e-2b7c9d1e5f60"}, o.Result)
	})
}

// Whoever cancels each order of a list of registered orders reaches all of them, though every
// cancelled one leaves the list and moves the others to earlier pages.
func TestListThatShrinks(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		eachLanguage(t, func(t *testing.T, r *runner) {
			tenant := s.NewTenant(t)
			var newestFirst []any
			for range 7 {
				order := map[string]any{"id": s.CreateOrder(t, tenant.KeyA), "status": "cancelled"}
				newestFirst = append([]any{order}, newestFirst...)
			}
			registered := map[string]any{"filter": map[string]any{"status": "registered", "limit": 2}}

			o := r.call(t, s.BaseURL, tenant.KeyA, "cancel_orders", registered)

			require.Nil(t, o.Error)
			require.Empty(t, o.Other)
			requirePart(t, "cancelled, each once", newestFirst, o.Result)
			require.Equal(t, []any{}, r.call(t, s.BaseURL, tenant.KeyA, "orders", registered).Result)
		})
	})
}
