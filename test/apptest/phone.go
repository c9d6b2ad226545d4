package apptest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/riders"
)

// PIN is what the riders of ActivatePhone choose.
const PIN = "24681357"

// RiderLink makes a link for one of the operator's riders and returns its token.
func (tenant *Tenant) RiderLink(t testing.TB, riderID uuid.UUID) string {
	t.Helper()
	link, err := tenant.riders().Link(t.Context(), &tenant.Operator, riderID)
	require.NoError(t, err)
	return link.Token
}

// ActivatePhone makes a phone one of the operator's riders' and returns the value of its cookie,
// for Request.Phone. A phone that the rider had before has no access any more.
func (tenant *Tenant) ActivatePhone(t testing.TB, riderID uuid.UUID) string {
	t.Helper()
	answer := tenant.s.Do(t, Request{Method: http.MethodPost, Path: "/rider/api/activate",
		Body: map[string]any{"token": tenant.RiderLink(t, riderID), "pin": PIN}})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return PhoneOf(t, answer)
}

// RevokePhone takes away the access of one of the operator's riders.
func (tenant *Tenant) RevokePhone(t testing.TB, riderID uuid.UUID) {
	t.Helper()
	require.NoError(t, tenant.riders().Revoke(t.Context(), &tenant.Operator, riderID))
}

func (tenant *Tenant) riders() *riders.Service {
	return riders.New(riders.Options{DB: tenant.s.App.DB, Clock: tenant.s.App.Clock()})
}

// PhoneOf is the value of the cookie that an activation has set.
func PhoneOf(t testing.TB, activated *Answer) string {
	t.Helper()
	value, set := strings.CutPrefix(activated.Header.Get("Set-Cookie"), phoneCookie+"=")
	require.True(t, set, activated.Header)
	value, _, _ = strings.Cut(value, ";")
	logs.addSecret("token", value)
	return value
}

const phoneCookie = "despacho_rider"
