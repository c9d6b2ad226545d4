package clients

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
