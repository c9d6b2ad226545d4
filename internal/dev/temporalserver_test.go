package dev

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeServerBuild leaves what `go install` leaves of the Temporal server's two programs.
const fakeServerBuild = `#!/bin/sh
for program in server sql; do
  printf '%s\n' '#!/bin/sh' "echo $*" > "$GOBIN/$program"
  /bin/chmod 755 "$GOBIN/$program"
done
`

func TestFindTemporalServer_isCompiledOnce(t *testing.T) {
	onPath(t, map[string]string{"go": fakeServerBuild})
	binDir := filepath.Join(t.TempDir(), "bin")
	var progress output
	programs, err := FindTemporalServer(t.Context(), binDir, progress.line)
	require.NoError(t, err)
	require.Contains(t, progress.String(), "this takes minutes, once")
	for _, program := range []string{programs.Server, programs.SQLTool} {
		content, err := os.ReadFile(program)
		require.NoError(t, err)
		require.Contains(t, string(content), "go.temporal.io/server/cmd/server")
		require.Contains(t, filepath.Base(program), TemporalServerVersion, "another version is another program")
	}

	onPath(t, nil) // no go any more
	again, err := FindTemporalServer(t.Context(), binDir, progress.line)
	require.NoError(t, err)
	require.Equal(t, programs, again)
}

func TestFindTemporalServer_aFailedBuildLeavesNothing(t *testing.T) {
	onPath(t, map[string]string{"go": "#!/bin/sh\necho 'no such module' >&2\nexit 1\n"})
	binDir := t.TempDir()
	_, err := FindTemporalServer(t.Context(), binDir, (&output{}).line)
	require.ErrorContains(t, err, "no such module")
	left, err := filepath.Glob(filepath.Join(binDir, "*temporal-*-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTemporalServer_configuration(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	free, err := freePorts(loopback, 9)
	require.NoError(t, err)
	postgres, err := url.Parse("postgres://postgres@127.0.0.1:15432/postgres")
	require.NoError(t, err)
	require.NoError(t, writeTemporalConfiguration(directory, free, 0, postgres))
	content, err := os.ReadFile(filepath.Join(directory, "development.yaml"))
	require.NoError(t, err)
	text := string(content)
	require.NotContains(t, text, "<no value>")
	require.Contains(t, text, "numHistoryShards: 512")
	require.Equal(t, 2, strings.Count(text, `connectAddr: "127.0.0.1:15432"`))
	frontend := strconv.Itoa(free[0])
	require.Contains(t, text, "grpcPort: "+frontend+"\n")
	ports := map[string]bool{}
	for _, match := range regexp.MustCompile(`Port: (\d+)\n`).FindAllStringSubmatch(text, -1) {
		number, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		require.Less(t, number, 1<<15, "the server keeps its ports in a smallint")
		require.False(t, ports[match[1]], "two parts on one port")
		ports[match[1]] = true
	}
	require.True(t, ports[frontend])
}
