package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program is a module that prints its version and has one dependency, which is in its own tree.
var program = map[string]string{
	"go.mod":         "module example.com/program\n\ngo 1.25\n",
	"main.go":        "package main\n\nimport \"example.com/program/part\"\n\nvar release string\n\nfunc main() { print(part.Name(), \" \", release) }\n",
	"part/part.go":   "// Package part has a panic, whose trace has the file's path.\npackage part\n\nfunc Name() string {\n\tif len(name) == 0 {\n\t\tpanic(name)\n\t}\n\treturn name\n}\n\nvar name = \"program\"\n",
	"part/ignore.md": "not compiled\n",
}

func newBuild(t *testing.T) build {
	t.Helper()
	directory := t.TempDir()
	for name, content := range program {
		path := filepath.Join(directory, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return build{
		directory: directory, pkg: ".", name: "program", version: "1.2.3", epoch: time.Unix(1_700_000_000, 0).UTC(),
		targets: []target{{runtime.GOOS, runtime.GOARCH, "GOAMD64=v1"}}, out: filepath.Join(t.TempDir(), "dist"),
	}
}

func readAll(t *testing.T, directory string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(content)
	}
	return files
}

// Two directories, one of them a repository, and two environments give the same bytes.
func TestBuild_isReproducible(t *testing.T) {
	first, second := newBuild(t), newBuild(t)
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first"}} {
		require.NoError(t, run(exec.Command("git", append([]string{"-C", second.directory}, arguments...)...)))
	}
	require.NoError(t, first.run(t.Context(), io.Discard))
	t.Setenv("GOFLAGS", "-buildvcs=true")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("CGO_ENABLED", "1")
	require.NoError(t, second.run(t.Context(), io.Discard))

	files := readAll(t, first.out)
	require.Equal(t, files, readAll(t, second.out))
	binary := "program_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	require.Contains(t, files, binary)
	require.NotContains(t, files[binary], first.directory)
	printed, err := exec.Command(filepath.Join(first.out, binary)).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "program 1.2.3", string(printed))

	var sums strings.Builder
	for _, name := range []string{binary, binary + ".cdx.json", binary + ".image.tar", binary + ".image.tar.cdx.json"} {
		fmt.Fprintf(&sums, "%s  %s\n", digest([]byte(files[name])), name)
	}
	require.Equal(t, sums.String(), files["SHA256SUMS"])
	require.Len(t, files, 5)
	require.NotContains(t, files[binary+".cdx.json"], authoritiesModule)
	require.Contains(t, files[binary+".image.tar.cdx.json"], authoritiesModule)
	for name := range files {
		info, err := os.Stat(filepath.Join(first.out, name))
		require.NoError(t, err)
		require.True(t, first.epoch.Equal(info.ModTime()), name)
	}
}

func TestBuild_removesWhatWasThere(t *testing.T) {
	t.Parallel()
	b := newBuild(t)
	require.NoError(t, os.MkdirAll(b.out, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(b.out, "old"), nil, 0o600))
	require.NoError(t, b.run(t.Context(), io.Discard))
	require.NotContains(t, readAll(t, b.out), "old")
}

func TestBuild_removesNoSources(t *testing.T) {
	t.Parallel()
	b := newBuild(t)
	for _, out := range []string{b.directory, filepath.Dir(b.directory)} {
		b.out = out
		require.ErrorContains(t, b.run(t.Context(), io.Discard), "choose another directory")
		require.FileExists(t, filepath.Join(b.directory, "go.mod"))
	}
}

func TestBuild_refusesAVersionThatIsNoFileName(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1.0 -X main.other=1", "../1", "-v", "1.0+1", strings.Repeat("1", 64)} {
		b := newBuild(t)
		b.version = version
		require.ErrorContains(t, b.run(t.Context(), io.Discard), "version")
	}
}

// The bills list the modules that are compiled into the binary, here this test's own, and no
// others.
func TestBills_listWhatIsInside(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	content, err := os.ReadFile(self)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "despacho")
	require.NoError(t, os.WriteFile(copied, content, 0o600))
	image := copied + ".image.tar"
	require.NoError(t, os.WriteFile(image, []byte("image"), 0o600))
	b := build{name: "despacho", version: "1.2.3", epoch: time.Unix(1_700_000_000, 0).UTC()}
	require.NoError(t, b.writeBills(copied, image))
	for file, kind := range map[string]string{copied: "application", image: "container"} {
		written, err := os.ReadFile(file + ".cdx.json")
		require.NoError(t, err)
		var listed bill
		require.NoError(t, json.Unmarshal(written, &listed))
		require.Equal(t, []string{"CycloneDX", "1.5", "2023-11-14T22:13:20Z"}, []string{listed.Format, listed.SpecVersion, listed.Metadata.Timestamp})
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, []hash{{"SHA-256", digest(content)}}, listed.Metadata.Component.Hashes)
		require.Equal(t, kind, listed.Metadata.Component.Type)
		versions := map[string]string{}
		for _, c := range listed.Components {
			versions[c.Name] = c.Version
			require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.PackageURL)
			require.Contains(t, listed.Dependencies[0].DependsOn, c.Ref)
		}
		require.Equal(t, strings.TrimPrefix(runtime.Version(), "go"), versions["std"])
		require.NotEmpty(t, versions["github.com/google/uuid"])
		require.NotEmpty(t, versions[authoritiesModule])
		require.NotContains(t, versions, "github.com/gin-gonic/gin")
	}
}
