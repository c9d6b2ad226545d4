package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// X-Request-Id comes back as it was sent; without one, or with one that makes no sense, the service
// gives its own.
func TestContract_4_6_requestID(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, path := range []string{"/v1/stores", "/v1/orders/x", "/v1/nada", "/public/countries"} {
			answer := s.Do(t, apptest.Request{Method: "GET", Path: path, Key: tenant.Key, Header: map[string]string{"X-Request-Id": "venta-42/a.b:c"}})
			require.Equal(t, "venta-42/a.b:c", answer.Header.Get("X-Request-Id"), path)
			for _, senseless := range []string{"", "con espacios", strings.Repeat("x", 129), `"><script>`} {
				answer := s.Do(t, apptest.Request{Method: "GET", Path: path, Key: tenant.Key, Header: map[string]string{"X-Request-Id": senseless}})
				_, err := uuid.Parse(answer.Header.Get("X-Request-Id"))
				require.NoError(t, err, path)
			}
		}
	})
}

// Content-Type: application/json on POST and PATCH. Missing is read as JSON, another type is 415.
func TestContract_4_6_contentType(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		send := func(method, path, contentType string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: method, Path: path, Key: tenant.Key, Body: apptest.Order(), Header: map[string]string{"Content-Type": contentType}})
		}
		for _, fine := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON"} {
			require.Equal(t, http.StatusCreated, send("POST", "/v1/orders", fine).Status, fine)
		}
		before := countOrders(t, s, tenant)
		order := created(t, s, tenant.Key)
		for _, other := range []string{"text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/problem+json", "json", "application/json, text/plain", ";"} {
			requireRefused(t, send("POST", "/v1/orders", other), http.StatusUnsupportedMediaType, "unsupported_media_type")
			requireRefused(t, send("POST", "/v1/webhooks", other), http.StatusUnsupportedMediaType, "unsupported_media_type")
			requireRefused(t, send("PATCH", "/v1/orders/"+order.String("id")+"/cancel", other), http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
		require.Equal(t, before+1, countOrders(t, s, tenant))
		require.Equal(t, http.StatusCreated, postWithoutContentType(t, s, tenant.Key), "missing is read as JSON")
	})
}

// A compressed body is not read: it is 415, as another type is, and not JSON with an error.
func TestContract_4_6_contentEncoding(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		send := func(coding string) *apptest.Answer {
			return s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(), Header: map[string]string{"Content-Encoding": coding}})
		}
		for _, coding := range []string{"gzip", "GZIP", "br", "identity, gzip", "deflate"} {
			refused := send(coding)
			requireRefused(t, refused, http.StatusUnsupportedMediaType, "unsupported_media_type")
			require.Contains(t, refused.Error, "Content-Encoding", coding)
		}
		require.Equal(t, http.StatusCreated, send("identity").Status)
		require.Equal(t, http.StatusCreated, send("").Status)
	})
}

func postWithoutContentType(t *testing.T, s *apptest.Service, key string) (status int) {
	t.Helper()
	content, err := json.Marshal(apptest.Order())
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/v1/orders", bytes.NewReader(content))
	require.NoError(t, err)
	request.Header.Set("X-API-Key", key)
	response, err := apptest.Client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return response.StatusCode
}

// No answer about orders is stored by a browser or a proxy on its way.
func TestHeaders_ordersAreNotStored(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
		require.Equal(t, "no-store", created.Header.Get("Cache-Control"))
		token := tenant.SignIn(t, nil)
		for _, request := range []apptest.Request{
			{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key},
			{Method: http.MethodGet, Path: "/v1/orders/" + created.String("id"), Key: tenant.Key},
			{Method: http.MethodGet, Path: "/v1/orders/" + created.String("store_id"), Key: tenant.Key},
			{Method: http.MethodGet, Path: "/panel/api/orders", Token: token},
			{Method: http.MethodGet, Path: "/panel/api/orders/" + created.String("id"), Token: token},
			{Method: http.MethodGet, Path: "/panel/api/keys", Token: token},
		} {
			require.Equal(t, "no-store", s.Do(t, request).Header.Get("Cache-Control"), request.Path)
		}
	})
}
