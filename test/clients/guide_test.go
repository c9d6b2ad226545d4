package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

var markedBlock = regexp.MustCompile("(?s)<!-- snippet: (\\S+) -->\n```\\w+\n(.*?)```")

// snippet writes a marked code block of the guide into a directory, exactly as a reader would copy
// it, with the client beside it.
func snippet(t *testing.T, name, directory string) {
	t.Helper()
	write(t, filepath.Join(directory, name), markedCode(t, "integrate.md", name))
	addClient(t, filepath.Ext(name), directory)
}

// markedCode is a marked code block of a document.
func markedCode(t *testing.T, document, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
	require.NoError(t, err)
	for _, match := range markedBlock.FindAllStringSubmatch(string(text), -1) {
		if match[1] == name {
			return match[2]
		}
	}
	t.Fatalf("%s has no snippet %s", document, name)
	return ""
}

// addClient puts a client where the guide says.
func addClient(t *testing.T, extension, directory string) {
	t.Helper()
	switch extension {
	case ".go":
		write(t, filepath.Join(directory, "go.mod"), "module shop\n\ngo 1.23\n\nrequire despacho/clients/go v0.0.0\n\nreplace despacho/clients/go => "+strconv.Quote(client(t, "go"))+"\n")
	case ".mjs":
		require.NoError(t, os.CopyFS(filepath.Join(directory, "node_modules", "@despacho", "client"), os.DirFS(client(t, "typescript"))))
	case ".py":
		require.NoError(t, os.CopyFS(directory, os.DirFS(client(t, "python"))))
	case ".php":
		require.NoError(t, os.CopyFS(directory, os.DirFS(client(t, "php"))))
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// command is how the program of a file is run. A Go program is compiled first, with what is beside
// it.
func command(t *testing.T, directory, file string) *exec.Cmd {
	t.Helper()
	program, found := map[string]string{".py": "python3", ".mjs": "node", ".php": "php"}[filepath.Ext(file)]
	if !found {
		return exec.Command(buildGo(t, directory))
	}
	run := exec.Command(testenv.Program(t, program), file)
	run.Dir = directory
	return run
}

// The snippets that create an order print its id and its guide code.
func TestGuide_create(t *testing.T) {
	printed := regexp.MustCompile(`^([0-9a-f-]{36}) ([0-9A-Z]{5}-[0-9A-Z]{6})\n$`)
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		for _, name := range []string{"create.go", "create.py", "create.mjs", "create.php"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tenant, directory := s.NewTenant(t), t.TempDir()
				snippet(t, name, directory)
				run := command(t, directory, name)
				run.Env = append(os.Environ(), "DESPACHO_URL="+s.BaseURL, "DESPACHO_KEY="+tenant.KeyA)
				var failure bytes.Buffer
				run.Stderr = &failure
				output, err := run.Output()
				require.NoError(t, err, failure.String())
				match := printed.FindStringSubmatch(string(output))
				require.NotNil(t, match, string(output))
				order := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + match[1], Key: tenant.KeyA})
				require.Equal(t, match[2], order.String("guide_code"))
			})
		}
	})
}

// The programs of a whole sale end when their order is delivered. The test advances the order, so
// that nobody waits for its timers.
func TestGuide_sale(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		for _, name := range []string{"sale.go", "sale.py", "sale.mjs", "sale.php"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tenant, directory := s.NewTenant(t), t.TempDir()
				key := tenant.NewKey(t, models.APIKey{Test: true})
				snippet(t, name, directory)
				run := command(t, directory, name)
				run.Env = append(os.Environ(), "DESPACHO_URL="+s.BaseURL, "DESPACHO_KEY="+key)
				var printed, failure bytes.Buffer
				run.Stdout, run.Stderr = &printed, &failure
				require.NoError(t, run.Start())
				id := createdBy(t, s, key)
				for range 3 {
					moved := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/test/orders/" + id + "/advance", Key: key})
					require.Less(t, moved.Status, 300, moved.Text)
				}
				require.NoError(t, run.Wait(), failure.String())
				code := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders/" + id, Key: key}).String("guide_code")
				require.Equal(t, "order.created "+code+"\norder.assigned "+code+"\norder.delivered "+code+"\n", printed.String())
			})
		}
	})
}

// createdBy waits for the only order of a key.
func createdBy(t *testing.T, s *apptest.Service, key string) (id string) {
	t.Helper()
	poll.Until(t, func() error {
		listed := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Key: key})
		orders, _ := listed.Data["orders"].([]any)
		if len(orders) != 1 {
			return errors.New("there is no order yet")
		}
		id = orders[0].(map[string]any)["id"].(string)
		return nil
	})
	s.WaitForWorkflow(t, id)
	return id
}

// Programs that hand requests to the guide's receivers. They read the requests from standard input
// and write whether each was accepted.
var receivers = map[string]struct{ file, text string }{
	"receive.go": {"main.go", `package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
)

func main() {
	var requests []struct {
		Secret, Body string
		Headers      map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		panic(err)
	}
	accepted := []bool{}
	for _, r := range requests {
		request, answer := httptest.NewRequest("POST", "/", strings.NewReader(r.Body)), httptest.NewRecorder()
		for name, value := range r.Headers {
			request.Header.Set(name, value)
		}
		receive(r.Secret)(answer, request)
		accepted = append(accepted, answer.Code == 200)
	}
	json.NewEncoder(os.Stdout).Encode(accepted)
}
`},
	"receive.py": {"main.py", `import json, sys
from receive import receive
print(json.dumps([receive(r["secret"], r["headers"], r["body"].encode()) == 200 for r in json.load(sys.stdin)]))
`},
	"receive.mjs": {"main.mjs", `import { readFileSync } from "node:fs";
import { receive } from "./receive.mjs";
const lower = (headers) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const requests = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(requests.map((r) => receive(r.secret, lower(r.headers), Buffer.from(r.body)) === 200)));
`},
	"receive.php": {"main.php", `<?php
require 'receive.php';
$accepted = [];
foreach (json_decode(file_get_contents('php://stdin'), true) as $r) {
    $server = [];
    foreach ($r['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(str_replace('-', '_', $name))] = $value;
    }
    $accepted[] = receive($r['secret'], $server, $r['body']) === 200;
}
echo json_encode($accepted);
`},
}

// Each receiver of the guide accepts what the service signs and refuses everything else.
func TestGuide_receive(t *testing.T) {
	t.Parallel()
	for name, receiver := range receivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			snippet(t, name, directory)
			write(t, filepath.Join(directory, receiver.file), receiver.text)
			run := command(t, directory, receiver.file) // compiled before anything is signed: a busy machine takes its time
			requests := signedRequests(t)
			given, err := json.Marshal(requests)
			require.NoError(t, err)
			var failure bytes.Buffer
			run.Stdin, run.Stderr = bytes.NewReader(given), &failure
			output, err := run.Output()
			require.NoError(t, err, failure.String())
			var accepted []bool
			require.NoError(t, json.Unmarshal(output, &accepted), string(output))
			require.Len(t, accepted, len(requests))
			for i, request := range requests {
				require.Equal(t, request.Genuine, accepted[i], request.Name)
			}
		})
	}
}
