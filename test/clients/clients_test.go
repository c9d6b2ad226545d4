// Package clients holds the clients of the API to one table of cases, and runs the code that
// docs/integrate.md shows.
package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// testCase is an entry of cases.yaml.
type testCase struct {
	Name string         `yaml:"name"`
	Call string         `yaml:"call"`
	With map[string]any `yaml:"with"`
	// Key replaces the key of the tenant.
	Key *string `yaml:"key"`
	// Options are those of the client that a case chooses: attempts, and max_wait in seconds.
	Options map[string]any `yaml:"options"`
	Answers []answer       `yaml:"answers"`

	Result any `yaml:"result"`
	// ResultHas is an element that a list must have, among others.
	ResultHas any    `yaml:"result_has"`
	Error     any    `yaml:"error"`
	NoAnswer  bool   `yaml:"no_answer"`
	NotSent   string `yaml:"not_sent"`
	// Sent is the whole body of each request.
	Sent  any       `yaml:"sent"`
	Waits []float64 `yaml:"waits"`
	Save  string    `yaml:"save"`
}

// cases is what cases.yaml has.
type cases struct {
	Service, Scripted []testCase
	// Operations has a call for each operation of openapi.yaml.
	Operations map[string]testCase
}

var table = sync.OnceValues(func() (cases cases, err error) {
	content, err := os.ReadFile("cases.yaml")
	if err != nil {
		return cases, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	return cases, decoder.Decode(&cases)
})

// languages start a program that makes calls with the client of a language.
var languages = map[string]func(t *testing.T) *runner{
	"go": func(t *testing.T) *runner { return startRunner(t, buildGo(t, filepath.Join("testdata", "go"))) },
	"python": func(t *testing.T) *runner {
		return startRunner(t, "python3", "testdata/runner.py", client(t, "python"))
	},
	"typescript": func(t *testing.T) *runner {
		return startRunner(t, "node", "testdata/runner.mjs", client(t, "typescript", "despacho.js"))
	},
	"php": func(t *testing.T) *runner {
		return startRunner(t, "php", "testdata/runner.php", client(t, "php", "Despacho.php"))
	},
}

func eachLanguage(t *testing.T, run func(t *testing.T, r *runner)) {
	for language, start := range languages {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			run(t, start(t))
		})
	}
}

// client is the path of a client's directory or file.
func client(t *testing.T, path ...string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "clients"}, path...)...))
	require.NoError(t, err)
	return absolute
}

// buildGo compiles the program of a module. The settings of this module's own build are kept from
// it.
func buildGo(t *testing.T, module string) string {
	t.Helper()
	testenv.SkipIfShort(t)
	program := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = module, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	return program
}

// runner is a running program that makes calls.
type runner struct {
	in  *json.Encoder
	out *bufio.Scanner
	err *bytes.Buffer
	// timeout is the client's. It is as long as any test waits: a busy machine may take longer than
	// the clients' own.
	timeout time.Duration
}

func startRunner(t *testing.T, program string, arguments ...string) *runner {
	t.Helper()
	path := testenv.Program(t, program)
	command := exec.Command(path, arguments...)
	r := &runner{err: &bytes.Buffer{}, timeout: poll.Deadline}
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = r.err
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close() // it ends by itself
		_ = command.Wait()
	})
	r.in, r.out = json.NewEncoder(in), bufio.NewScanner(out)
	r.out.Buffer(nil, 4<<20)
	return r
}

// outcome is what came of a call.
type outcome struct {
	Result   any       `json:"result"`
	Error    any       `json:"error"`
	NoAnswer bool      `json:"no_answer"`
	Other    string    `json:"other"`
	Waits    []float64 `json:"waits"`
}

// call has the client make a call.
func (r *runner) call(t *testing.T, baseURL, key, name string, with map[string]any) outcome {
	t.Helper()
	return r.callWith(t, nil, baseURL, key, name, with)
}

// callWith is call with options of the client.
func (r *runner) callWith(t *testing.T, options map[string]any, baseURL, key, name string, with map[string]any) outcome {
	t.Helper()
	if with == nil {
		with = map[string]any{}
	}
	if options == nil {
		options = map[string]any{}
	}
	request := map[string]any{"base_url": baseURL, "key": key, "timeout": r.timeout.Seconds(), "options": options, "call": name, "with": with}
	require.NoError(t, r.in.Encode(request))
	require.True(t, r.out.Scan(), "%s: %v %s", name, r.out.Err(), r.err)
	var o outcome
	require.NoError(t, json.Unmarshal(r.out.Bytes(), &o), r.out.Text())
	return o
}

// require compares the outcome of a call with what its case says.
func (c testCase) require(t *testing.T, o outcome) {
	t.Helper()
	if c.NotSent == "" {
		require.Empty(t, o.Other, c.Name)
	} else {
		require.Contains(t, o.Other, c.NotSent, c.Name)
	}
	require.Equal(t, c.NoAnswer, o.NoAnswer, c.Name)
	if c.Error != nil || o.Error != nil {
		requirePart(t, c.Name, c.Error, o.Error)
		return
	}
	if c.ResultHas != nil {
		require.Condition(t, func() bool {
			list, _ := o.Result.([]any)
			for _, element := range list {
				if difference(c.ResultHas, element) == "" {
					return true
				}
			}
			return false
		}, "%s: %v", c.Name, o.Result)
		return
	}
	requirePart(t, c.Name, c.Result, o.Result)
}
