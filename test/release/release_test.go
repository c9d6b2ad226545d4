// Package release_test builds releases of a small program with deploy/release.sh.
package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/testenv"
)

// program has a panic, whose trace has the file's path.
const program = "package main\n\nvar release, name string\n\nfunc main() {\n\tif release == \"\" {\n\t\tpanic(name)\n\t}\n\tprint(release)\n}\n"

// newRepository has the program and the script in one commit.
func newRepository(t *testing.T) string {
	t.Helper()
	testenv.SkipIfShort(t)
	directory := t.TempDir()
	script, err := os.ReadFile("../../deploy/release.sh")
	require.NoError(t, err)
	for name, content := range map[string]string{
		"go.mod": "module despacho\n\ngo 1.25\n", "cmd/despacho/main.go": program, "deploy/release.sh": string(script), ".gitignore": "/dist/\n",
	} {
		path := filepath.Join(directory, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	git(t, directory, "init", "-q")
	git(t, directory, "add", ".")
	git(t, directory, "commit", "-qm", "first")
	return directory
}

func git(t *testing.T, directory string, arguments ...string) {
	t.Helper()
	arguments = append([]string{"-C", directory, "-c", "user.name=a", "-c", "user.email=a@example.com"}, arguments...)
	output, err := exec.Command("git", arguments...).CombinedOutput()
	require.NoError(t, err, string(output))
}

// release runs the script and returns the files of dist.
func release(t *testing.T, directory string, environment ...string) (files map[string]string, output string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(directory, "deploy/release.sh"))
	command.Env = append(os.Environ(), environment...)
	printed, err := command.CombinedOutput()
	files = map[string]string{}
	entries, _ := os.ReadDir(filepath.Join(directory, "dist"))
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(directory, "dist", entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(content)
	}
	return files, string(printed), err
}

// Two directories and two environments give the same bytes.
func TestRelease_isReproducible(t *testing.T) {
	t.Parallel()
	first := newRepository(t)
	files, output, err := release(t, first, "VERSION=1.2.3")
	require.NoError(t, err, output)
	again, output, err := release(t, newRepository(t), "VERSION=1.2.3", "GOFLAGS=-buildvcs=true", "GOAMD64=v3", "CGO_ENABLED=1")
	require.NoError(t, err, output)
	require.Equal(t, files, again)
	require.Len(t, files, 5)

	binary := "despacho_1.2.3_linux_" + runtime.GOARCH
	require.NotContains(t, files[binary], first)
	require.Contains(t, files[binary+".modules.txt"], "path\tdespacho/cmd/despacho\n")
	printed, err := exec.Command(filepath.Join(first, "dist", binary)).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "1.2.3", string(printed))
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = filepath.Join(first, "dist")
	require.NoError(t, check.Run())
}

// A release is called by the commit's tag, or by its short id where it has none.
func TestRelease_version(t *testing.T) {
	t.Parallel()
	directory := newRepository(t)
	git(t, directory, "tag", "v1.4.0")
	files, output, err := release(t, directory)
	require.NoError(t, err, output)
	require.Contains(t, files, "despacho_v1.4.0_linux_amd64")
	git(t, directory, "commit", "-q", "--allow-empty", "-m", "second")
	files, output, err = release(t, directory)
	require.NoError(t, err, output)
	require.Regexp(t, `^[0-9a-f]{64}  despacho_[0-9a-f]{12}_linux_amd64\n`, files["SHA256SUMS"])
	require.Len(t, files, 5, "what was there is removed")

	for _, version := range []string{"1.0 -X main.other=1", "../1", "-v", "1.0+1"} {
		_, output, err := release(t, directory, "VERSION="+version)
		require.Error(t, err)
		require.True(t, strings.Contains(output, "the version must be"), output)
	}
	require.NoError(t, os.WriteFile(filepath.Join(directory, "changed"), nil, 0o600))
	_, output, err = release(t, directory)
	require.Error(t, err)
	require.Contains(t, output, "not committed")
}
