package api_test

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// The tests of the contract are named after its sections: TestContract_4_7_… is about section 4.7.
// This file holds the requests and demands that they share.

func get(t *testing.T, s *apptest.Service, key, path string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: key})
}

func postOrder(t *testing.T, s *apptest.Service, key string, changes ...map[string]any) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: key, Body: apptest.Order(changes...)})
}

// created is postOrder for a request that must succeed.
func created(t *testing.T, s *apptest.Service, key string, changes ...map[string]any) *apptest.Answer {
	t.Helper()
	answer := postOrder(t, s, key, changes...)
	require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
	return answer
}

func cancelOrder(t *testing.T, s *apptest.Service, key, id string, body any) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: key, Body: body})
}

// requireRefused demands a clear refusal: the status, the stable code, and exactly the wrong fields
// named.
func requireRefused(t *testing.T, answer *apptest.Answer, status int, code string, fields ...string) {
	t.Helper()
	require.Equal(t, status, answer.Status, answer.Text)
	require.Equal(t, code, answer.Code, answer.Text)
	require.ElementsMatch(t, fields, answer.Fields, answer.Text)
	require.NotEmpty(t, answer.Error)
	require.Nil(t, answer.Data)
	require.Nil(t, answer.List)
}

// requireWrongFields demands a 400 that names exactly these fields.
func requireWrongFields(t *testing.T, answer *apptest.Answer, fields ...string) {
	t.Helper()
	requireRefused(t, answer, http.StatusBadRequest, "invalid_fields", fields...)
	for _, field := range fields {
		require.Contains(t, answer.Error, field, "the text for people names the field too")
	}
}

// ownAddress makes the requests that carry it those of a client of its own, where clients are
// counted by address.
func ownAddress() map[string]string {
	address := netip.MustParseAddr("2001:db8::").As16()
	_, _ = rand.Read(address[4:8]) // a /64 counts as one address
	return map[string]string{"X-Forwarded-For": netip.AddrFrom16(address).String()}
}

// countOrders asks the database itself how many orders the tenant has.
func countOrders(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) int {
	t.Helper()
	var total int64
	require.NoError(t, s.App.DB.Query(t.Context()).Table("orders").Where("operator_id = ? AND NOT test", tenant.Operator.ID).Count(&total).Error)
	return int(total)
}

// members lists the member names of a JSON object, sorted.
func members(t *testing.T, object string) []string {
	t.Helper()
	var parsed map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object), &parsed), object)
	return slices.Sorted(maps.Keys(parsed))
}

// listed are the objects of an answer whose data is a list.
func listed(t *testing.T, answer *apptest.Answer) []map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return objects(t, answer.List)
}

func objects(t *testing.T, list []any) []map[string]any {
	t.Helper()
	objects := make([]map[string]any, len(list))
	for i, element := range list {
		object, ok := element.(map[string]any)
		require.True(t, ok, "%v is not an object", element)
		objects[i] = object
	}
	return objects
}

// column picks one member of every object.
func column(objects []map[string]any, member string) []any {
	values := make([]any, len(objects))
	for i, object := range objects {
		values[i] = object[member]
	}
	return values
}
