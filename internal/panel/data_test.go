package panel_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// meter counts what goes over the connections of a client, in both directions, headers included.
type meter struct{ bytes atomic.Int64 }

type meteredConn struct {
	net.Conn
	meter *meter
}

func (c meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.meter.bytes.Add(int64(n))
	return n, err
}

func (c meteredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.meter.bytes.Add(int64(n))
	return n, err
}

// metered makes a client count what it sends and receives.
func (v *visitor) metered() *meter {
	m := &meter{}
	v.client.Transport = &http.Transport{
		DisableCompression: true, // the client asks for it itself
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return meteredConn{conn, m}, err
		},
	}
	v.t.Cleanup(v.client.CloseIdleConnections)
	return m
}

// browserHeaders are what Chromium sends with a fetch of the page's own script.
var browserHeaders = map[string]string{
	"User-Agent": "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Accept":     "*/*", "Accept-Encoding": "gzip, deflate, br, zstd", "Accept-Language": "es-PE,es;q=0.9,en;q=0.8",
	"Sec-Ch-Ua": `"Chromium";v="142", "Not=A?Brand";v="24"`, "Sec-Ch-Ua-Mobile": "?1", "Sec-Ch-Ua-Platform": `"Android"`,
	"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin",
}

// poll asks for a part of a page as the script does, and returns the tag to ask with the next time.
func (v *visitor) poll(path, tag string) (status int, next string) {
	v.t.Helper()
	request, err := http.NewRequest(http.MethodGet, v.base+path, nil)
	require.NoError(v.t, err)
	for name, value := range browserHeaders {
		request.Header.Set(name, value)
	}
	request.Header.Set("Referer", v.base+path)
	request.Header.Set("X-Fragment", "board")
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := v.client.Do(request)
	require.NoError(v.t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(v.t, err)
	return response.StatusCode, response.Header.Get("ETag")
}

var liveInterval = regexp.MustCompile(`data-every="(\d+)"`)

// A tab that is left open costs less than a megabyte an hour while nothing happens.
func TestLive_anIdleTabCostsLittleData(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var rows []models.Order
		for i := range 200 {
			rows = append(rows, tenant.Row(apptest.FrozenAt.Add(-time.Duration(i+120)*time.Minute), apptest.ReceivedAfter(time.Hour)))
		}
		tenant.InsertRows(t, rows)
		for _, path := range []string{"/panel/pedidos", "/panel/asignacion"} {
			v := visit(t, s, tenant, nil)
			every, err := strconv.Atoi(liveInterval.FindStringSubmatch(v.read(path).Text)[1])
			require.NoError(t, err)
			used := v.metered()
			status, tag := v.poll(path, "")
			require.Equal(t, http.StatusOK, status)
			first := used.bytes.Load()
			const polls = 5
			for range polls {
				status, tag = v.poll(path, tag)
				require.Equal(t, http.StatusNotModified, status)
			}
			hour := first + (used.bytes.Load()-first)/polls*int64(3600/every)
			t.Logf("%s: %d bytes an hour, %d for a change", path, hour, first)
			require.Less(t, hour, int64(1_000_000), "%s: the bytes of an hour", path)
			require.Less(t, first, int64(30_000), "%s: the bytes of one change", path)
		}

		v := visit(t, s, tenant, nil)
		_, tag := v.poll("/panel/pedidos", "")
		tenant.InsertRows(t, []models.Order{tenant.Row(apptest.FrozenAt)})
		status, _ := v.poll("/panel/pedidos", tag)
		require.Equal(t, http.StatusOK, status, "a change is sent")
	})
}

// A part that is fetched again every few seconds reads nothing for the filters and forms around it,
// such as every rider of the operator.
func TestLive_readsOnlyWhatItShows(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		tenant.InsertRows(t, []models.Order{tenant.Row(apptest.FrozenAt.Add(-2*time.Hour), apptest.ReceivedAfter(time.Hour))})
		v := visit(t, s, tenant, nil)
		for path, part := range map[string]string{"/panel/pedidos": "board", "/panel/asignacion": "assignable", "/panel/asignacion?estado=assigned": "assignable"} {
			count := func(part string) int64 {
				request, err := http.NewRequest(http.MethodGet, v.base+path, nil)
				require.NoError(t, err)
				id := uuid.NewString()
				request.Header.Set("X-Request-Id", id)
				request.Header.Set("X-Fragment", part)
				require.Equal(t, http.StatusOK, v.do(request).Status)
				return s.Statements(id)
			}
			count("")        // what is read once and kept
			const around = 2 // the riders, and the orders without a point or the destinations
			require.LessOrEqual(t, count(part), count("")-around, path)
		}
	})
}

// Pages, styles and scripts are compressed for browsers that take it so, but not for a page that
// another site opens, nor one that shows a secret.
func TestPages_areCompressed(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		v.metered()
		get := func(path string, headers ...string) *http.Response {
			request, err := http.NewRequest(http.MethodGet, v.base+path, nil)
			require.NoError(t, err)
			for i := 0; i < len(headers); i += 2 {
				request.Header.Set(headers[i], headers[i+1])
			}
			response, err := v.client.Do(request)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return response
		}
		page := v.read("/panel/pedidos")
		assets := regexp.MustCompile(`/panel/assets/panel\.(css|js)\?v=[0-9a-f]+`).FindAllString(page.Text, -1)
		paths := append([]string{"/panel/pedidos", "/"}, assets...)
		require.Len(t, paths, 4)
		for _, path := range paths {
			packed := get(path, "Accept-Encoding", "gzip")
			require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"), path)
			if strings.Contains(path, "/assets/") {
				require.Equal(t, "Accept-Encoding", packed.Header.Get("Vary"), path)
				require.Equal(t, "public, max-age=31536000, immutable", packed.Header.Get("Cache-Control"), path)
				name, _, _ := strings.Cut(path, "?")
				for _, other := range []string{name, name + "?v=000000000000"} {
					require.Equal(t, "no-cache", get(other).Header.Get("Cache-Control"), "another release's %s", other)
				}
			}
			require.Empty(t, get(path).Header.Get("Content-Encoding"), path)
		}
		require.Empty(t, get("/panel/pedidos?q=x", "Accept-Encoding", "gzip", "Sec-Fetch-Site", "cross-site").Header.Get("Content-Encoding"))
		sent := v.post("/panel/claves", map[string][]string{"name": {"Sistema"}, "scopes": {"read:orders"}})
		require.Empty(t, get(sent.Location, "Accept-Encoding", "gzip").Header.Get("Content-Encoding"), "it shows a key")
	})
}
