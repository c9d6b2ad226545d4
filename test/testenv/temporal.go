package testenv

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/workflows"
)

// SearchAttributes are registered in the namespace of the Temporal server that tests use: name →
// type.
var SearchAttributes = workflows.SearchAttributes()

// Temporal returns the host:port of a real Temporal development server, shared by all tests.
func Temporal(t testing.TB) string {
	t.Helper()
	address, err := temporalServer.get()
	require.NoError(t, err)
	return address
}

// TaskQueue returns a name that no other test uses, so that tests share a server without sharing
// work.
func TaskQueue(t testing.TB) string { return t.Name() + "-" + rand.Text() }
