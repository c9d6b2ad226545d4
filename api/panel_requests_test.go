package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// The tests of the panel's JSON API have one file for each resource. This file holds what they
// share.

// desk is a panel user at work.
type desk struct {
	t     *testing.T
	s     *apptest.Service
	token string
}

type fields = map[string]any

func (d desk) send(method, path string, body any) *apptest.Answer {
	d.t.Helper()
	return d.s.Do(d.t, apptest.Request{Method: method, Path: "/panel/api" + path, Token: d.token, Body: body})
}

func (d desk) post(path string, body any) *apptest.Answer {
	d.t.Helper()
	return d.send(http.MethodPost, path, body)
}

func (d desk) patch(path string, body any) *apptest.Answer {
	d.t.Helper()
	return d.send(http.MethodPatch, path, body)
}

func (d desk) delete(path string) *apptest.Answer {
	d.t.Helper()
	return d.send(http.MethodDelete, path, nil)
}

func (d desk) list(path string) []map[string]any {
	d.t.Helper()
	return listed(d.t, d.send(http.MethodGet, path, nil))
}

// make is post for what must succeed; it returns the id.
func (d desk) make(path string, body any) string {
	d.t.Helper()
	answer := d.post(path, body)
	require.Equal(d.t, http.StatusCreated, answer.Status, answer.Text)
	require.Equal(d.t, "/panel/api"+path+"/"+answer.String("id"), answer.Header.Get("Location"))
	return answer.String("id")
}

// change is patch for what must succeed.
func (d desk) change(path string, body any) map[string]any {
	d.t.Helper()
	answer := d.patch(path, body)
	require.Equal(d.t, http.StatusOK, answer.Status, answer.Text)
	return answer.Data
}

// find is the element of a list with the id.
func (d desk) find(path, id string) map[string]any {
	d.t.Helper()
	for _, element := range d.list(path) {
		if element["id"] == id {
			return element
		}
	}
	require.Fail(d.t, "not in the list", "%s %s", path, id)
	return nil
}

// operatorDesk signs a new operator user of a new tenant in.
func operatorDesk(t *testing.T, s *apptest.Service) (desk, *apptest.Tenant) {
	t.Helper()
	tenant := s.NewTenant(t)
	return desk{t, s, tenant.SignIn(t, nil)}, tenant
}

// requireWrong demands that each body is refused with exactly the named fields, and that nothing
// came of it.
func (d desk) requireWrong(method, path, list string, bodies map[string]fields) {
	d.t.Helper()
	before := d.list(list)
	for wrong, body := range bodies {
		requireWrongFields(d.t, d.send(method, path, body), wrong)
	}
	require.Equal(d.t, before, d.list(list))
}

// requireUnknown demands 404 for what is not there, is no id, or is another operator's.
func (d desk) requireUnknown(method, path, foreign, code string) {
	d.t.Helper()
	for _, id := range []string{uuid.NewString(), "no-es-un-id", foreign} {
		requireRefused(d.t, d.send(method, path+"/"+id, fields{"name": "X"}), http.StatusNotFound, code)
	}
}
