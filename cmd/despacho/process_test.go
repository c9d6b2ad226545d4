package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/dev"
	"despacho/test/closedport"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// binaryDir holds what compile compiles; it is empty if no test needs it.
var binaryDir string

// compile compiles the command once for the tests that need a real process.
var compile = sync.OnceValues(func() (path string, err error) {
	if binaryDir, err = os.MkdirTemp("", "despacho-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(binaryDir, "despacho")
	if output, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
})

func removeBinary() error {
	if binaryDir == "" {
		return nil
	}
	return os.RemoveAll(binaryDir)
}

// process is a running despacho whose log can be watched.
type process struct {
	*exec.Cmd
	mu  sync.Mutex
	log bytes.Buffer
}

func (p *process) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(line)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// start runs despacho in a clean environment with the given variables on top.
func start(t *testing.T, variables map[string]string, args ...string) *process {
	t.Helper()
	return startCommand(t, variables, binary(t), args...)
}

// binary is the path of the compiled command.
func binary(t *testing.T) string {
	t.Helper()
	testenv.SkipIfShort(t)
	path, err := compile()
	require.NoError(t, err)
	return path
}

// startCommand is start for a program that runs despacho.
func startCommand(t *testing.T, variables map[string]string, name string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(name, args...)}
	p.Dir = t.TempDir()
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir} // a later PATH wins
	for name, value := range variables {
		p.Env = append(p.Env, name+"="+value)
	}
	p.Stdout, p.Stderr = p, p
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

func (p *process) waitForLog(t *testing.T, text string) {
	t.Helper()
	poll.Until(t, func() error {
		if !strings.Contains(p.output(), text) {
			return fmt.Errorf("%q is not in the log:\n%s", text, p.output())
		}
		return nil
	})
}

const goodSecret = "0123456789abcdef0123456789abcdef"

// freeAddress is one that a process of the test can listen on.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := dev.FreePort("127.0.0.1")
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// Wrong configuration gives one clear line that names the variable, and a non-zero exit.
func TestWrongConfiguration_oneClearLine(t *testing.T) {
	t.Parallel()
	certificate := filepath.Join(t.TempDir(), "broken.pem")
	require.NoError(t, os.WriteFile(certificate, []byte("no certificate"), 0o600))
	good := func(t *testing.T) map[string]string {
		return map[string]string{"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": "127.0.0.1:0"}
	}
	for name, c := range map[string]struct {
		change map[string]string
		want   string
	}{
		"no database":                {map[string]string{"DATABASE_URL": ""}, "DATABASE_URL is required"},
		"bad DATABASE_URL":           {map[string]string{"DATABASE_URL": "mysql://x"}, "DATABASE_URL"},
		"unreachable DATABASE_URL":   {map[string]string{"DATABASE_URL": "postgres://x:y@" + closedport.Address(t) + "/z"}, "DATABASE_URL: the postgres database does not answer"},
		"not migrated":               {map[string]string{"DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "new.db")}, "despacho migrate up"},
		"missing SECRET_KEY":         {map[string]string{"SECRET_KEY": ""}, "SECRET_KEY is required"},
		"short SECRET_KEY":           {map[string]string{"SECRET_KEY": "short"}, "SECRET_KEY"},
		"malformed TEMPORAL_ADDRESS": {map[string]string{"TEMPORAL_ADDRESS": "temporal"}, "TEMPORAL_ADDRESS"},
		"malformed certificate":      {map[string]string{"TEMPORAL_TLS_CLIENT_CERT_PATH": certificate, "TEMPORAL_TLS_CLIENT_KEY_PATH": certificate}, "TEMPORAL_"},
		"malformed duration":         {map[string]string{"AUTO_CANCEL_AFTER": "a day"}, "AUTO_CANCEL_AFTER"},
	} {
		for _, command := range []string{"api", "worker"} {
			t.Run(name+"/"+command, func(t *testing.T) {
				t.Parallel()
				variables := good(t)
				for variable, value := range c.change {
					variables[variable] = value
				}
				p := start(t, variables, command)
				require.Error(t, p.Wait(), "exit code")
				require.Equal(t, 1, strings.Count(p.output(), "\n"), p.output())
				require.Contains(t, p.output(), c.want)
			})
		}
	}
}

// Each process derives its own address, so a worker's photo addresses would be another machine's.
func TestBaseURL_thatIsNotSetIsSaid(t *testing.T) {
	t.Parallel()
	for command, running := range map[string]string{"api": "api listening", "worker": "Temporal"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			variables := map[string]string{"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": freeAddress(t), "TEMPORAL_ADDRESS": closedport.Address(t)}
			start(t, variables, command).waitForLog(t, "BASE_URL is not set")

			variables["DATABASE_URL"], variables["HTTP_ADDR"], variables["BASE_URL"] = testenv.SQLite(t), freeAddress(t), "https://despacho.example"
			told := start(t, variables, command)
			told.waitForLog(t, running)
			require.NotContains(t, told.output(), "BASE_URL")
		})
	}
}

func TestAPI_portInUseIsNamed(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	p := start(t, map[string]string{"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": taken.Addr().String()}, "api")
	require.Error(t, p.Wait())
	require.Contains(t, p.output(), taken.Addr().String())
	require.Contains(t, p.output(), "HTTP_ADDR")
}

// Without Temporal the API starts all the same and says so, in its log and in /readyz; on SIGTERM
// it lets a request in flight finish.
func TestAPI_startsWithoutTemporalAndDrains(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	p := start(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": address, "TEMPORAL_ADDRESS": closedport.Address(t), "LOG_FORMAT": "json",
		"DRAIN_DELAY": "0s", "SHUTDOWN_TIMEOUT": poll.Deadline.String(), // the request in flight has a limit of its own
	}, "api")
	p.waitForLog(t, "Temporal cannot be reached")
	p.waitForLog(t, "api listening")
	response, err := http.Get("http://" + address + "/readyz")
	require.NoError(t, err)
	content, err := io.ReadAll(response.Body)
	require.NoError(t, errorsOf(err, response.Body.Close()))
	require.Equal(t, http.StatusOK, response.StatusCode, "orders are accepted without Temporal")
	require.JSONEq(t, `{"data":{"database":"ok","files":"ok","temporal":"unreachable","webhooks":"ok","workflow_starts":{"waiting":0,"oldest_seconds":0}}}`, string(content))

	// A request whose body is still on its way when the process is told to stop.
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "POST /panel/api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\nX-Request-Id: drain-1\r\n\r\n")
	require.NoError(t, err)
	reader := bufio.NewReader(connection)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue", "the handler is reading the body")
	_, err = reader.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	poll.Until(t, func() error {
		probe, err := net.Dial("tcp", address)
		if err == nil {
			probe.Close()
			return fmt.Errorf("still taking connections")
		}
		return nil
	})
	_, err = fmt.Fprint(connection, "{}")
	require.NoError(t, err)
	answer, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Contains(t, string(answer), "HTTP/1.1 400")
	require.Contains(t, string(answer), "X-Request-Id: drain-1")
	require.NoError(t, p.Wait(), p.output())
	require.Contains(t, p.output(), `"request_id":"drain-1"`, "the id is in the log")
}

// Who looks for the reason of a failed stop finds the variable.
func TestAPI_saysThatRequestsWereStillInFlight(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	p := start(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": address, "TEMPORAL_ADDRESS": closedport.Address(t),
		"DRAIN_DELAY": "0s", "SHUTDOWN_TIMEOUT": "1ms",
	}, "api")
	p.waitForLog(t, "api listening")
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "POST /panel/api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(connection).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue", "the handler is reading the body")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Error(t, p.Wait())
	require.Contains(t, p.output(), "despacho: SHUTDOWN_TIMEOUT: requests were still in flight after 1ms\n")
}

// A profile that somebody takes is not work that a stopping process fails to finish.
func TestAdmin_aProfileDoesNotFailTheStop(t *testing.T) {
	t.Parallel()
	admin := freeAddress(t)
	p := start(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": freeAddress(t), "ADMIN_ADDR": admin, "TEMPORAL_ADDRESS": closedport.Address(t),
		"DRAIN_DELAY": "0s", "SHUTDOWN_TIMEOUT": "1ms",
	}, "api")
	p.waitForLog(t, "api listening")
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			response, err := http.Get("http://" + admin + "/debug/pprof/profile?seconds=55")
			if err != nil {
				answers <- 0
				return
			}
			_ = response.Body.Close()
			answers <- response.StatusCode
		}()
	}
	require.Equal(t, http.StatusInternalServerError, <-answers, "the other profile is being taken")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait(), p.output())
}

// A stopping api first tells the balancer, and goes on serving until that has had time to listen:
// who still comes is served and sent away.
func TestAPI_stopsBeingReadyBeforeItStopsServing(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	p := start(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": address, "TEMPORAL_ADDRESS": closedport.Address(t), "DRAIN_DELAY": (2 * poll.Deadline).String(),
	}, "api")
	p.waitForLog(t, "api listening")
	kept := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	ask := func() *http.Response {
		response, err := kept.Get("http://" + address + "/public/countries")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, errorsOf(err, response.Body.Close()))
		require.Equal(t, http.StatusOK, response.StatusCode)
		return response
	}
	require.False(t, ask().Close, "the connection is kept")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	requireStatus(t, address, http.StatusServiceUnavailable)
	require.True(t, ask().Close, "the kept connection is ended by its answer, not under a request")
	ask() // on a new connection, which is served too
}

// requireStatus waits until /readyz answers with a status.
func requireStatus(t *testing.T, address string, want int) {
	t.Helper()
	poll.Until(t, func() error {
		response, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != want {
			return fmt.Errorf("/readyz answers %d", response.StatusCode)
		}
		return nil
	})
}

// The end of a terminal or of a session drains, however often it is told; SIGTERM then ends the
// process at once.
func TestAPI_drainsOnHangUp(t *testing.T) {
	t.Parallel()
	// The tests may run under nohup themselves. A process that handles the signal starts others that
	// do not ignore it.
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	address := freeAddress(t)
	p := start(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": address, "TEMPORAL_ADDRESS": closedport.Address(t), "DRAIN_DELAY": (2 * poll.Deadline).String(),
	}, "api")
	p.waitForLog(t, "api listening")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	requireStatus(t, address, http.StatusServiceUnavailable)
	for range 3 {
		require.NoError(t, p.Process.Signal(syscall.SIGHUP))
		requireStatus(t, address, http.StatusServiceUnavailable)
	}
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.ErrorContains(t, p.Wait(), syscall.SIGTERM.String())
}

// Whoever starts a process with nohup wants it to outlive the terminal.
func TestAPI_ignoresAHangUpUnderNohup(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	path := binary(t)
	p := startCommand(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "HTTP_ADDR": address, "TEMPORAL_ADDRESS": closedport.Address(t), "DRAIN_DELAY": "0s",
	}, "nohup", path, "api")
	p.waitForLog(t, "api listening")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	requireStatus(t, address, http.StatusOK)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait(), p.output())
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A worker without Temporal keeps trying, at growing intervals, and recovers by itself.
func TestWorker_waitsForTemporalAndRecovers(t *testing.T) {
	t.Parallel()
	port, err := dev.FreePort("127.0.0.1")
	require.NoError(t, err)
	p := start(t, map[string]string{
		"DATABASE_URL": testenv.SQLite(t), "SECRET_KEY": goodSecret, "TEMPORAL_ADDRESS": fmt.Sprintf("127.0.0.1:%d", port),
	}, "worker")
	p.waitForLog(t, `msg="Temporal is not ready; trying again" in=1s`)
	p.waitForLog(t, `msg="Temporal is not ready; trying again" in=2s`)
	server, err := dev.StartTemporal(t.Context(), dev.TemporalOptions{CLI: testenv.TemporalCLI(t), Port: port})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.Background())) }()
	p.waitForLog(t, "worker started")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait(), p.output())
	require.Contains(t, p.output(), "worker stopped")
}
