package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
	"despacho/test/testenv"
	"despacho/worker"
)

// fullDisk takes nothing, as /dev/full.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A script that keeps what a command prints must not take an empty file for a success.
func TestCommands_failIfNothingCanBePrinted(t *testing.T) {
	t.Setenv("DATABASE_URL", testenv.SQLite(t))
	t.Setenv("SECRET_KEY", goodSecret)
	t.Setenv("TEMPORAL_ADDRESS", closedport.Address(t))
	t.Setenv("FILES_DIR", t.TempDir())
	database, err := openDatabase(t.Context())
	require.NoError(t, err)
	defer database.Close()
	_, err = loadCatalog(t.Context(), database)
	require.NoError(t, err)
	_, err = despacho(t, "", "operator", "create", "Rayo")
	require.NoError(t, err)
	for _, line := range []string{
		"version", "migrate up", "migrate status", "operator list", "operator list --json",
		"operator plan Rayo pro", "reconcile", "secrets rotate", "operator erase --operator Rayo --phone 987654321",
	} {
		root := rootCommand()
		root.SetArgs(strings.Fields(line))
		root.SetOut(fullDisk{})
		root.SetErr(io.Discard)
		require.ErrorIs(t, root.ExecuteContext(t.Context()), syscall.ENOSPC, line)
	}
}

// A build that nothing identifies has no version, so that changed code goes on with the open
// orders.
func TestBuildID_onlyOfAReleaseOrACommit(t *testing.T) {
	defer func(before string) { release = before }(release)
	release = "1.5.0"
	require.Equal(t, "1.5.0", buildID())
	release = developmentRelease
	require.Equal(t, worker.Unversioned, buildID())
	require.Equal(t, developmentRelease, version())
	release = ""
	require.Equal(t, worker.Unversioned, buildID(), "a test binary has no commit")
}

func TestHealthCommand_asksTheProcessOnThisMachine(t *testing.T) {
	status := map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status[r.URL.Path]) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	t.Setenv("HTTP_ADDR", "0.0.0.0:"+port)

	_, err = despacho(t, "", "health")
	require.NoError(t, err)
	_, err = despacho(t, "", "health", "--ready")
	require.ErrorContains(t, err, "/readyz answers 503")
	_, err = despacho(t, "", "health", "--admin")
	require.ErrorContains(t, err, "ADMIN_ADDR")
	t.Setenv("ADMIN_ADDR", server.Listener.Addr().String())
	_, err = despacho(t, "", "health", "--admin")
	require.ErrorContains(t, err, server.Listener.Addr().String()+"/readyz answers 503")
	_, err = despacho(t, "", "health", "--admin", "--ready")
	require.Error(t, err)

	t.Setenv("HTTP_ADDR", closedport.Address(t))
	_, err = despacho(t, "", "health")
	require.NoError(t, err, "a worker is well, which listens on ADMIN_ADDR alone")
	status["/healthz"] = http.StatusNotFound
	_, err = despacho(t, "", "health")
	require.ErrorContains(t, err, "connection refused", "an api that does not listen")
	t.Setenv("ADMIN_ADDR", "")
	_, err = despacho(t, "", "health")
	require.ErrorContains(t, err, "connection refused")
}

func TestListen_namesWhatIsMissing(t *testing.T) {
	t.Setenv("DESPACHO_KEY", "")
	t.Setenv("DESPACHO_URL", "")
	t.Setenv("DESPACHO_SECRET", "")
	_, err := despacho(t, "", "listen", "--forward", "localhost:3000", "--secret", "hola")
	require.Error(t, err)
	for _, name := range []string{"--url", "--forward", "--key", "--secret"} {
		require.ErrorContains(t, err, name)
	}
}

// What is secret need not be among the arguments.
func TestListen_readsTheEnvironment(t *testing.T) {
	t.Setenv("DESPACHO_KEY", "dsp_live_x")
	t.Setenv("DESPACHO_URL", "https://despacho.example")
	t.Setenv("DESPACHO_SECRET", "hola")
	_, err := despacho(t, "", "listen", "--forward", "localhost:3000")
	require.ErrorContains(t, err, "--forward must be")
	require.ErrorContains(t, err, "--secret or DESPACHO_SECRET must be one that an earlier run has printed, or a webhook's")
	require.NotContains(t, err.Error(), "DESPACHO_KEY")
	require.NotContains(t, err.Error(), "DESPACHO_URL")
}
