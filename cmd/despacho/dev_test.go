package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/internal/dev"
	"despacho/internal/dev/demo"
	"despacho/internal/encryption"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// devVariables give a dev of the test's own free ports: HTTP, inbox, Temporal and, a thousand above
// it, its Web UI.
func devVariables(t *testing.T, dir string) map[string]string {
	t.Helper()
	programs := t.TempDir() // where dev finds it on PATH, whatever its file is called
	require.NoError(t, os.Symlink(testenv.TemporalCLI(t), filepath.Join(programs, "temporal")))
	port := func() int {
		number, err := dev.FreePort("127.0.0.1")
		require.NoError(t, err)
		return number
	}
	temporal := port()
	for temporal > 64000 || !free(temporal+1000) {
		temporal = port()
	}
	return map[string]string{
		"DEV_DIR": dir, "HTTP_ADDR": fmt.Sprintf("127.0.0.1:%d", port()), "DEV_INBOX_ADDR": fmt.Sprintf("127.0.0.1:%d", port()),
		"DEV_TEMPORAL_PORT": fmt.Sprint(temporal), "PATH": programs + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// A port in use is reported before anything is looked for or started: getting Temporal's server can
// take minutes.
func TestDev_aPortInUseIsReportedFirst(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"HTTP_ADDR", "ADMIN_ADDR", "DEV_INBOX_ADDR", "DEV_TEMPORAL_PORT"} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			variables := devVariables(t, dir)
			address := "127.0.0.1:" + variables["DEV_TEMPORAL_PORT"]
			if variable != "DEV_TEMPORAL_PORT" {
				address = freeAddress(t)
				variables[variable] = address
			}
			taken, err := net.Listen("tcp", address)
			require.NoError(t, err)
			defer taken.Close()
			p := start(t, variables, "dev")
			require.Error(t, p.Wait())
			require.Contains(t, p.output(), address+" is in use by another program: stop it, or set "+variable+" to a free one\n")
			require.NoFileExists(t, filepath.Join(dir, dev.TemporalLog), "Temporal's server was looked for before")
			require.NoFileExists(t, filepath.Join(dir, dev.DatabaseFile))
		})
	}
}

func readDemo(t *testing.T, dir string) *demo.Document {
	t.Helper()
	file := filepath.Join(dir, "demo.json")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds keys")
	document, err := demo.Read(file)
	require.NoError(t, err)
	return document
}

// interrupt is Ctrl-C; afterwards nothing that dev started is left.
func interrupt(t *testing.T, p *process, variables map[string]string) {
	t.Helper()
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	require.NoError(t, p.Wait(), p.output())
	require.Contains(t, p.output(), "Stopped.")
	for _, address := range []string{variables["HTTP_ADDR"], variables["DEV_INBOX_ADDR"], "127.0.0.1:" + variables["DEV_TEMPORAL_PORT"]} {
		_, err := net.Dial("tcp", address)
		require.Error(t, err, "%s is still listened on", address)
	}
}

// What make run promises: the banner's curl line gives a 201, the order's workflow is in Temporal,
// its event is in the inbox with a good signature; a second one in its directory is refused; Ctrl-C
// leaves nothing behind; the next start reuses everything and still has the order.
func TestDev_bannerInboxAndRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	variables := devVariables(t, dir)
	p := start(t, variables, "dev")
	p.waitForLog(t, "Despacho is ready")
	first := readDemo(t, dir)
	requireRefused(t, dir)

	curl := regexp.MustCompile(`(?m)^curl .*$`).FindString(p.output())
	require.NotEmpty(t, curl, p.output())
	output, err := exec.Command("sh", "-c", curl+` -w '\n%{http_code}'`).CombinedOutput()
	require.NoError(t, err, string(output))
	answer, status, _ := strings.Cut(string(output), "\n")
	require.Equal(t, "201", status, answer)
	var created struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &created))
	requireWorkflow(t, variables, created.Data.ID)
	poll.Until(t, func() error { return inboxHas(first.WebhookInbox.EventsURL, created.Data.ID) })
	interrupt(t, p, variables)

	again := start(t, variables, "dev")
	again.waitForLog(t, "Despacho is ready")
	second := readDemo(t, dir)
	for i := range first.Operators {
		require.NotEqual(t, first.Operators[i].RiderLink, second.Operators[i].RiderLink, "a link is used once")
		first.Operators[i].RiderLink = second.Operators[i].RiderLink
	}
	require.Equal(t, first.Operators, second.Operators, "the keys are the same")
	require.Contains(t, again.output(), second.Operators[0].RiderLink)
	request, err := http.NewRequest(http.MethodGet, second.BaseURL+"/v1/orders/"+created.Data.ID, nil)
	require.NoError(t, err)
	request.Header.Set("X-API-Key", second.Operators[0].Keys.All)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode, "orders survive a restart")
	requireWorkflow(t, variables, created.Data.ID)
	interrupt(t, again, variables)
}

// requireRefused starts a second dev in a directory, with ports of its own.
func requireRefused(t *testing.T, dir string) {
	t.Helper()
	second := start(t, devVariables(t, dir), "dev")
	require.Error(t, second.Wait())
	require.Equal(t, "despacho: another despacho dev works in "+dir+": stop it, or set DEV_DIR to another directory\n", second.output())
}

func requireWorkflow(t *testing.T, variables map[string]string, orderID string) {
	t.Helper()
	temporal := testenv.DialTemporal(t, client.Options{HostPort: "127.0.0.1:" + variables["DEV_TEMPORAL_PORT"]})
	poll.Until(t, func() error { // an order is accepted before its workflow is there if Temporal is slow
		_, err := temporal.DescribeWorkflowExecution(t.Context(), "order-"+orderID, "")
		return err
	})
}

func inboxHas(eventsURL, orderID string) error {
	response, err := http.Get(eventsURL)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var events []dev.InboxEvent
	if err := json.NewDecoder(response.Body).Decode(&events); err != nil {
		return err
	}
	for _, event := range events {
		if strings.Contains(event.Body, orderID) {
			if !event.SignatureOK {
				return fmt.Errorf("the signature does not hold")
			}
			return nil
		}
	}
	return fmt.Errorf("no event of the order among %d", len(events))
}

// The four operators of demo.json, in their order and with their different fates.
func TestDev_demoOperators(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	variables := devVariables(t, dir)
	p := start(t, variables, "dev")
	p.waitForLog(t, "Despacho is ready")
	document := readDemo(t, dir)
	require.Len(t, document.Operators, 4)
	for i, want := range []struct {
		plan      string
		suspended bool
		status    int
		stores    int
	}{{"business", false, 200, 2}, {"pro", false, 200, 1}, {"basic", false, 403, 1}, {"business", true, 403, 1}} {
		operator := document.Operators[i]
		require.EqualValues(t, want.plan, operator.Plan)
		require.Equal(t, want.suspended, operator.Suspended)
		require.Len(t, operator.Stores, want.stores)
		for key, status := range map[string]int{
			operator.Keys.All: want.status, operator.Keys.ReadOnly: want.status, operator.Stores[0].Key: want.status,
			operator.Keys.Expired: 401, operator.Keys.Revoked: 401,
		} {
			request, err := http.NewRequest(http.MethodGet, document.BaseURL+"/v1/orders", nil)
			require.NoError(t, err)
			request.Header.Set("X-API-Key", key)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, status, response.StatusCode, operator.Name)
		}
	}
	business := document.Operators[0]
	requireLogo(t, document.BaseURL, business.Keys.All, business.Covered.LocationID.String())
	require.Len(t, business.Riders, 3)
	require.Len(t, business.Branches, 2)
	require.Len(t, business.Sizes, 3)
	interrupt(t, p, variables)
}

// requireLogo demands that the operator's customers see its logo.
func requireLogo(t *testing.T, baseURL, key, locationID string) {
	t.Helper()
	call := func(method, path, body string) []byte {
		request, err := http.NewRequest(method, baseURL+strings.TrimPrefix(path, baseURL), strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("X-API-Key", key)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Less(t, response.StatusCode, 300, "%s: %s", path, content)
		return content
	}
	var created, tracked struct {
		Data struct {
			GuideCode string `json:"guide_code"`
			Logo      string `json:"tenant_logo_url"`
		}
	}
	order := `{"recipient_name":"Rosa","recipient_phone":"987654321","delivery_address":"Av. Larco 345","product":"Caja","location_id":"` + locationID + `"}`
	require.NoError(t, json.Unmarshal(call(http.MethodPost, "/v1/orders", order), &created))
	require.NoError(t, json.Unmarshal(call(http.MethodGet, "/v1/track/"+created.Data.GuideCode, ""), &tracked))
	require.NotEmpty(t, tracked.Data.Logo)
	_, err := png.Decode(bytes.NewReader(call(http.MethodGet, tracked.Data.Logo, "")))
	require.NoError(t, err)
}

// A machine that is set up for a Temporal elsewhere, by variables or by temporal.toml, runs dev as
// any other does.
func TestDev_settingsOfAnotherTemporal(t *testing.T) {
	t.Parallel()
	variables := devVariables(t, t.TempDir())
	variables["TEMPORAL_NAMESPACE"], variables["TEMPORAL_API_KEY"] = "orders.a1b2c", "secret"
	variables["TEMPORAL_TLS_CLIENT_CERT_PATH"] = filepath.Join(t.TempDir(), "missing.pem")
	p := start(t, variables, "dev")
	p.waitForLog(t, "Despacho is ready")
	interrupt(t, p, variables)
}

// Without its Temporal dev cannot carry an order: it says so and ends, instead of taking orders
// that never move.
func TestDev_temporalDies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("finds the child in /proc")
	}
	dir := t.TempDir()
	p := start(t, devVariables(t, dir), "dev")
	p.waitForLog(t, "Despacho is ready")
	temporal := dev.Descendants(p.Process.Pid)
	require.NotEmpty(t, temporal)
	for _, child := range temporal {
		require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
	}
	require.Error(t, p.Wait())
	require.Contains(t, p.output(), "Temporal ended")
	require.Contains(t, p.output(), filepath.Join(dir, "temporal.log"))
}

// The key is made once. A file that a full disk has left empty is no key: dev would never start
// again.
func TestDevSecret(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	empty := filepath.Join(directory, "empty.key")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, file := range []string{filepath.Join(directory, "secret.key"), empty} {
		secret, err := devSecret(file)
		require.NoError(t, err)
		_, err = encryption.New(secret)
		require.NoError(t, err)
		again, err := devSecret(file)
		require.NoError(t, err)
		require.Equal(t, secret, again)
	}
}
