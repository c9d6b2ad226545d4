package cluster

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The client sends the headers of an API client, and reconnects after a server closed its
// connection.
func TestConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "/v1/orders/1")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("X-API-Key"), r.Header.Get("Authorization"),
			r.Header.Get("X-Forwarded-For"), r.Header.Get("Idempotency-Key"), r.Header.Get("Content-Type"), string(body)}, "|"))
	}))
	defer server.Close()
	client := NewConnection(strings.TrimPrefix(server.URL, "http://"))
	defer client.Close()
	r := Request{Method: http.MethodPost, Path: "/v1/orders", Key: "k", Token: "t", Client: "198.51.100.1", IdempotencyKey: "i", Body: []byte("{}")}
	for range 2 {
		got, err := client.Expect(t.Context(), http.StatusCreated, r)
		require.NoError(t, err)
		require.Equal(t, "POST|/v1/orders|k|Bearer t|198.51.100.1|i|application/json|{}", string(got.Body))
		require.Equal(t, "/v1/orders/1", got.Header.Get("Location"))
		server.CloseClientConnections()
	}
	_, err := client.Expect(t.Context(), http.StatusOK, Request{Method: http.MethodGet, Path: "/"})
	require.ErrorContains(t, err, "GET / answered 201, not 200")
}

// DropIfClosed must see what the server did long ago, however late the goroutine gets its turn.
func TestConnection_dropIfClosed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	for _, late := range []time.Duration{0, time.Hour} {
		connection := NewConnection(server.Listener.Addr().String())
		t.Cleanup(connection.Close)
		_, err := connection.Try(t.Context(), Request{Method: http.MethodGet, Path: "/"})
		require.NoError(t, err)
		conn := connection.conn
		require.NoError(t, conn.SetDeadline(time.Now().Add(-late)))
		connection.DropIfClosed()
		require.Same(t, conn, connection.conn, "an open connection is kept")

		server.CloseClientConnections()
		require.NoError(t, conn.SetDeadline(time.Now().Add(-late)))
		connection.DropIfClosed()
		require.Nil(t, connection.conn, "a closed connection is dropped")
	}
}
