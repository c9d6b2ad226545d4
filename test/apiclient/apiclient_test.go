// Package apiclient tests that a client generated from api/openapi.yaml, as a programmer of a
// store's system would generate one, compiles and works against the service.
package apiclient

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { apptest.Main(m) }

const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1"

func TestGeneratedClient_createsReadsListsAndCancelsAnOrder(t *testing.T) {
	program := buildClient(t)
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		output, err := exec.Command(program, s.BaseURL, s.NewTenant(t).KeyA, apptest.Miraflores.String()).CombinedOutput()
		require.NoError(t, err, string(output))
	})
}

// buildClient copies the store's module, generates the client beside it and compiles both.
func buildClient(t *testing.T) (program string) {
	t.Helper()
	testenv.SkipIfShort(t)
	module := t.TempDir()
	require.NoError(t, os.CopyFS(module, os.DirFS(filepath.Join("testdata", "client"))))
	document, err := filepath.Abs("../../api/openapi.yaml")
	require.NoError(t, err)
	require.FileExists(t, document) // so that the test's cached result depends on it
	for _, arguments := range [][]string{{"run", generator, "-version"}, {"mod", "download", "github.com/oapi-codegen/runtime"}} {
		if output, err := runGo(t, module, arguments...); err != nil {
			reason := "the generator cannot be had here: " + output
			if os.Getenv("CI") == "true" {
				t.Fatal(reason)
			}
			t.Skip(reason)
		}
	}
	output, err := runGo(t, module, "run", generator, "-config", "config.yaml", "-o", "client.gen.go", document)
	require.NoError(t, err, output)
	output, err = runGo(t, module, "build", "-o", "client", ".")
	require.NoError(t, err, output)
	return filepath.Join(module, "client")
}

// runGo looks for modules in the module cache before it asks a proxy, so that a warm cache is all
// it needs.
func runGo(t *testing.T, directory string, arguments ...string) (string, error) {
	t.Helper()
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	command := exec.Command("go", arguments...)
	downloaded := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(cache, "cache", "download"))} // a space needs escaping
	command.Dir, command.Env = directory, append(os.Environ(), "GOPROXY="+downloaded.String()+","+proxy, "GOWORK=off")
	output, err := command.CombinedOutput()
	return string(output), err
}
