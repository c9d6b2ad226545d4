package api

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A request that is worked on for longer than its body may take costs neither itself nor the next one on its connection their lives.
func TestLimitBody_endsWithTheBody(t *testing.T) {
	t.Parallel()
	const limit = 50 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limitBody(w, r, limit)
		_, err := io.ReadAll(r.Body)
		if err == nil {
			select {
			case <-r.Context().Done():
				err = r.Context().Err()
			case <-time.After(3 * limit): // work
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	for range 3 {
		response, err := client.Post(server.URL, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		content, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		require.Equal(t, http.StatusOK, response.StatusCode, string(content))
	}
}

func TestLimitBody_endsABodyThatDripsIn(t *testing.T) {
	t.Parallel()
	outcome := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limitBody(w, r, 50*time.Millisecond)
		_, err := io.ReadAll(r.Body)
		outcome <- err
	}))
	defer server.Close()
	dripping, drop := io.Pipe()
	defer drop.Close()
	go func() {
		if response, err := http.Post(server.URL, "application/json", dripping); err == nil {
			response.Body.Close()
		}
	}()
	_, err := drop.Write([]byte("{"))
	require.NoError(t, err)
	require.ErrorIs(t, <-outcome, os.ErrDeadlineExceeded)
}
