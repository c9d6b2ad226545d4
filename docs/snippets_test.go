// Package docs_test runs the code that the documents show.
package docs_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/webhooks/sender"
)

var markedBlock = regexp.MustCompile("(?s)<!-- snippet: (\\S+) -->\n```\\w+\n(.*?)```")

// snippet writes a marked code block of integrate.md into a directory, exactly as a reader would
// copy it.
func snippet(t *testing.T, name, directory string) {
	t.Helper()
	document, err := os.ReadFile("integrate.md")
	require.NoError(t, err)
	for _, match := range markedBlock.FindAllStringSubmatch(string(document), -1) {
		if match[1] == name {
			require.NoError(t, os.MkdirAll(directory, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(match[2]), 0o600))
			return
		}
	}
	t.Fatalf("integrate.md has no snippet %s", name)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// runIn runs a program with the cases as JSON on its standard input and reads JSON from its output.
func runIn(t *testing.T, directory string, input, output any, command ...string) {
	t.Helper()
	program := command[0]
	if strings.HasPrefix(program, "./") {
		program = filepath.Join(directory, program)
	} else if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not on this machine", program)
	}
	given, err := json.Marshal(input)
	require.NoError(t, err)
	run := exec.Command(program, command[1:]...)
	var failure bytes.Buffer
	run.Dir, run.Stdin, run.Stderr = directory, bytes.NewReader(given), &failure
	answer, err := run.Output()
	require.NoError(t, err, failure.String())
	require.NoError(t, json.Unmarshal(answer, output), "%s", answer)
}

// goEnvironment keeps the settings of this module's own build from another's.
func goEnvironment() []string { return append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off") }

// received is a request as a receiver gets it.
type received struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Genuine bool              `json:"-"`
}

const orderData = `{"id":"019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68","recipient_name":"Rosa Díaz <ñ> \u00e1","amount_to_collect":89.9}`

// signedAt is a request that the service itself would send at that time.
func signedAt(t *testing.T, name, secret string, at time.Time, genuine bool) received {
	t.Helper()
	body, err := sender.Body(sender.Request{Event: "order.delivered", TenantID: "0f6b1c9e-5d2a-4b77-9c38-a1e4d7f02b65", Data: json.RawMessage(orderData)}, at)
	require.NoError(t, err)
	headers, err := sender.Headers("order.delivered", "019a8f55-20aa-7d11-b0a4-8c9b6d2e7f10", at, body, secret)
	require.NoError(t, err)
	request := received{Name: name, Secret: secret, Headers: map[string]string{}, Body: string(body), Genuine: genuine}
	for header := range headers {
		request.Headers[header] = headers.Get(header)
	}
	return request
}

// signedRequests may be up to three minutes older when they are checked than when they were made.
func signedRequests(t *testing.T) []received {
	t.Helper()
	secret, now := sender.NewSecret(), time.Now()
	changed := func(name string, change func(*received)) received {
		request := signedAt(t, name, secret, now, false)
		change(&request)
		return request
	}
	return []received{
		signedAt(t, "a genuine request", secret, now, true),
		signedAt(t, "two minutes old", secret, now.Add(-2*time.Minute), true),
		signedAt(t, "from a clock that is four minutes fast", secret, now.Add(4*time.Minute), true),
		signedAt(t, "six minutes old", secret, now.Add(-6*time.Minute), false),
		signedAt(t, "eight minutes ahead", secret, now.Add(8*time.Minute), false),
		changed("a tampered body", func(r *received) { r.Body = strings.Replace(r.Body, "89.9", "9.9", 1) }),
		changed("a body with a space more", func(r *received) { r.Body += " " }),
		changed("another secret", func(r *received) { r.Secret = sender.NewSecret() }),
		changed("the secret without its prefix", func(r *received) { r.Secret = strings.TrimPrefix(r.Secret, "whsec_") }),
		changed("another timestamp", func(r *received) { r.Headers["X-Service-Timestamp"] += "0" }),
		changed("a timestamp that is no number", func(r *received) { r.Headers["X-Service-Timestamp"] = "now" }),
		changed("an endless timestamp", func(r *received) { r.Headers["X-Service-Timestamp"] = strings.Repeat("9", 5000) }),
		changed("no timestamp", func(r *received) { delete(r.Headers, "X-Service-Timestamp") }),
		changed("no signature", func(r *received) { delete(r.Headers, "X-Service-Signature") }),
		changed("a signature cut short", func(r *received) { r.Headers["X-Service-Signature"] = r.Headers["X-Service-Signature"][:40] }),
		changed("a signature that is not ASCII", func(r *received) { r.Headers["X-Service-Signature"] = "sha256=ñ" }),
	}
}

const (
	goProgram = `package main

import (
	"encoding/json"
	"net/http"
	"os"

	"receiver/despacho"
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
		header := http.Header{}
		for name, value := range r.Headers {
			header.Set(name, value)
		}
		accepted = append(accepted, despacho.Verify(r.Secret, header, []byte(r.Body)))
	}
	json.NewEncoder(os.Stdout).Encode(accepted)
}
`
	pythonProgram = `import json, sys
from verify import verify
print(json.dumps([verify(r["secret"], r["headers"], r["body"].encode()) for r in json.load(sys.stdin)]))
`
	nodeProgram = `import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";
const lower = (headers) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const requests = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(requests.map((r) => verify(r.secret, lower(r.headers), Buffer.from(r.body)))));
`
	phpProgram = `<?php
require 'verify.php';
$accepted = [];
foreach (json_decode(file_get_contents('php://stdin'), true) as $r) {
    $server = [];
    foreach ($r['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(str_replace('-', '_', $name))] = $value;
    }
    $accepted[] = verify($r['secret'], $server, $r['body']);
}
echo json_encode($accepted);
`
)

// Each snippet accepts what the service signs and refuses everything else.
func TestIntegrate_signatureSnippets(t *testing.T) {
	t.Parallel()
	for language, receiver := range map[string]struct {
		snippet, directory, program, text string
		command                           []string
	}{
		"go":         {"verify.go", "despacho", "main.go", goProgram, []string{"./receiver"}},
		"python":     {"verify.py", ".", "main.py", pythonProgram, []string{"python3", "main.py"}},
		"javascript": {"verify.mjs", ".", "main.mjs", nodeProgram, []string{"node", "main.mjs"}},
		"php":        {"verify.php", ".", "main.php", phpProgram, []string{"php", "main.php"}},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			snippet(t, receiver.snippet, filepath.Join(directory, receiver.directory))
			write(t, filepath.Join(directory, receiver.program), receiver.text)
			if language == "go" { // compiled before anything is signed: a busy machine takes its time
				write(t, filepath.Join(directory, "go.mod"), "module receiver\n\ngo 1.21\n")
				compile := exec.Command("go", "build", "-o", "receiver", ".")
				compile.Dir, compile.Env = directory, goEnvironment()
				output, err := compile.CombinedOutput()
				require.NoError(t, err, string(output))
			}

			requests := signedRequests(t)
			var accepted []bool
			runIn(t, directory, requests, &accepted, receiver.command...)
			require.Len(t, accepted, len(requests))
			for i, request := range requests {
				require.Equal(t, request.Genuine, accepted[i], request.Name)
			}
		})
	}
}

// The cases themselves are right: the service's own check says the same of each.
func TestIntegrate_casesAgreeWithTheServicesOwnCheck(t *testing.T) {
	t.Parallel()
	for _, request := range signedRequests(t) {
		header := http.Header{}
		for _, name := range []string{sender.HeaderTimestamp, sender.HeaderSignature} {
			header.Set(name, request.Headers[name])
		}
		err := sender.Verify(header, []byte(request.Body), time.Now(), request.Secret)
		require.Equal(t, request.Genuine, err == nil, "%s: %v", request.Name, err)
	}
}

// The table of errors names only codes that the reference knows, and all that an integration over
// /v1 can meet.
func TestIntegrate_errorTableKnowsTheCodes(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("integrate.md")
	require.NoError(t, err)
	reference, err := os.ReadFile("../api/openapi.yaml")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| [0-9, ]+ \| ([^|]+) \|`).FindAllStringSubmatch(string(guide), -1) {
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			named[code[1]] = true
			require.True(t, strings.Contains(string(reference), "| `"+code[1]+"` |"), code[1])
		}
	}
	shown := codesOfV1(t)
	require.Greater(t, len(shown), 15)
	for code, operation := range shown {
		assert.True(t, named[code], "%s of %s is not in the table of integrate.md", code, operation)
	}
}

// codesOfV1 are the codes in the examples of the reference for the operations of /v1, each with an
// operation that has it.
func codesOfV1(t *testing.T) map[string]string {
	t.Helper()
	document, err := apptest.Document()
	require.NoError(t, err)
	codes := map[string]string{}
	for path, item := range document.Paths.Map() {
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		for method, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, content := range response.Value.Content {
					examples := []any{content.Example}
					for _, example := range content.Examples {
						examples = append(examples, example.Value.Value)
					}
					for _, example := range examples {
						if members, is := example.(map[string]any); is && members["code"] != nil {
							codes[members["code"].(string)] = method + " " + path
						}
					}
				}
			}
		}
	}
	return codes
}
