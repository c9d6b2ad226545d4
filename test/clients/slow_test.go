package clients

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
