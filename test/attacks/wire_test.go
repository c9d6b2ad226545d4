package attacks

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// dial opens a plain connection, for what no client library would send.
func dial(t *testing.T, s *apptest.Service) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.BaseURL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	require.NoError(t, connection.SetDeadline(time.Now().Add(poll.Deadline)))
	return connection
}

// A request with an ambiguous length is refused and its connection closed: it could smuggle a
// second request.
func TestSmuggling_isRefused(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const follow = "GET /healthz HTTP/1.1\r\nHost: despacho\r\nX-Smuggled: yes\r\n\r\n"
		for name, headers := range map[string]string{
			"two lengths":                "Content-Length: 5\r\nContent-Length: 6\r\n",
			"a signed length":            "Content-Length: +5\r\n",
			"a list of lengths":          "Content-Length: 5, 6\r\n",
			"an unknown coding":          "Transfer-Encoding: xchunked\r\n",
			"two codings":                "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
			"a coding after a space":     "Transfer-Encoding : chunked\r\n",
			"a folded header":            "X-One: a\r\n b\r\nTransfer-Encoding:\r\n chunked, identity\r\n",
			"a line feed in a header":    "X-One: a\nContent-Length: 0\r\n\rX: y\r\n",
			"a name with a control code": "X\x01One: a\r\n",
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				connection := dial(t, s)
				_, err := fmt.Fprintf(connection, "POST /v1/orders HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/json\r\n%s\r\n0\r\n\r\n%s", headers, follow)
				require.NoError(t, err)
				answers := bufio.NewReader(connection)
				response, err := http.ReadResponse(answers, nil)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				require.GreaterOrEqual(t, response.StatusCode, 400)
				require.Less(t, response.StatusCode, 502)
				_, err = http.ReadResponse(answers, nil)
				require.Error(t, err, "nothing more is read from the connection")
			})
		}
	})
}

// A request with a length and chunks is read by its chunks: what a reader of the length alone would
// take for a second request is not one.
func TestSmuggling_chunksDecideAgainstALength(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const second = "GET /healthz HTTP/1.1\r\nHost: despacho\r\n\r\n"
		connection := dial(t, s)
		_, err := fmt.Fprintf(connection, "POST /v1/orders HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/json\r\nConnection: close\r\n"+
			"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(second), second)
		require.NoError(t, err)
		answers := bufio.NewReader(connection)
		response, err := http.ReadResponse(answers, nil)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, response.Body)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnauthorized}, response.StatusCode)
		_, err = answers.ReadByte()
		require.Error(t, err, "there is no second answer")
	})
}

// A client that never ends its headers is cut off in seconds, and others are served meanwhile.
func TestSlowloris_isCutOff(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		limits := api.HTTPServer(nil, time.Minute)
		require.Positive(t, limits.ReadHeaderTimeout)
		require.LessOrEqual(t, limits.ReadHeaderTimeout, 10*time.Second, "without a limit of their own headers have as long as a body")
		var slow []net.Conn
		for range 100 {
			connection := dial(t, s)
			_, err := fmt.Fprint(connection, "GET /healthz HTTP/1.1\r\nHost: despacho\r\nX-Slow: ")
			require.NoError(t, err)
			slow = append(slow, connection)
		}
		require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/healthz"}).Status)
		for _, connection := range slow {
			_, err := io.Copy(io.Discard, connection)
			require.NoError(t, err, "the service closes the connection")
		}
	})
}

// What is packed is not unpacked: a body of a few bytes cannot become gigabytes.
func TestDecompressionBomb_isNotUnpacked(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var bomb bytes.Buffer
		packer := gzip.NewWriter(&bomb)
		_, err := io.CopyN(packer, zeros{}, 50<<20)
		require.NoError(t, err)
		require.NoError(t, packer.Close())
		require.Less(t, bomb.Len(), 200<<10)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/v1/orders", &bomb)
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Content-Encoding", "gzip")
		request.Header.Set("X-API-Key", tenant.Key)
		response, err := noRedirects.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnsupportedMediaType}, response.StatusCode)
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A header cannot be ended from inside its value, neither in what we echo nor in where we lead.
func TestHeaderInjection_splitsNoAnswer(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, path := range []string{
			"/track?code=%0d%0aSet-Cookie:%20a=b", "/track/%0d%0aSet-Cookie:%20a=b", "/panel/ingreso?siguiente=/panel/%0d%0aSet-Cookie:%20a=b",
			"/panel/pedidos?q=%0d%0aSet-Cookie:%20a=b", "/files/%0d%0aSet-Cookie:%20a=b",
		} {
			connection := dial(t, s)
			_, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: despacho\r\nX-Request-Id: a\tb\r\nConnection: close\r\n\r\n", path)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.True(t, err == nil || errors.Is(err, io.ErrUnexpectedEOF), err)
			require.Empty(t, response.Header.Values("Set-Cookie"), path)
			require.NotContains(t, response.Header.Get("X-Request-Id"), "\t", path)
		}
	})
}

// A file name leads nowhere but into the folder of photos.
func TestPathTraversal_leadsNowhere(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, path := range []string{
			"/files/../go.mod", "/files/..%2f..%2f..%2f..%2fetc%2fpasswd", "/files/....//....//etc/passwd", "/files/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
			"/files/..%5c..%5cetc%5cpasswd", "/files//etc/passwd", "/files/%00", "/files/.", "/files/..", "/files/", "/panel/assets/..%2f..%2fpages.go",
		} {
			connection := dial(t, s)
			_, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: despacho\r\nConnection: close\r\n\r\n", path)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest}, response.StatusCode, path)
			require.NotContains(t, string(text), "root:", path)
		}
	})
}

// The request line and the headers together have a limit, and what asks for no address is answered
// as an unknown route is.
func TestRequest_thatNoRouteGets(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for request, status := range map[string]int{
			"GET /healthz HTTP/1.1\r\nHost: despacho\r\nX-Long: " + strings.Repeat("a", 64<<10) + "\r\n\r\n":                    http.StatusRequestHeaderFieldsTooLarge,
			"GET /v1/orders?status=" + strings.Repeat("a", 64<<10) + " HTTP/1.1\r\nHost: despacho\r\nConnection: close\r\n\r\n": http.StatusRequestHeaderFieldsTooLarge,
			"OPTIONS * HTTP/1.1\r\nHost: despacho\r\nConnection: close\r\n\r\n":                                                 http.StatusNotFound,
		} {
			connection := dial(t, s)
			_, err := io.WriteString(connection, request)
			require.NoError(t, err)
			answers := bufio.NewReader(connection)
			response, err := http.ReadResponse(answers, nil)
			require.NoError(t, err)
			require.Equal(t, status, response.StatusCode, request[:20])
			_, _ = io.Copy(io.Discard, response.Body) // what was not read of the request may reset the connection
			_, err = answers.ReadByte()
			require.Error(t, err, "the connection is closed")
		}
	})
}
