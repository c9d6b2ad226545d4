package dev

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"despacho/test/poll"
)

// workingCLI stands for the program that a download brings.
const workingCLI = "#!/bin/sh\necho 'temporal version 1.2.3'\n"

// devName is the program's file in the directory of programs.
const devName = "temporal-dev-" + TemporalServerVersion

// onPath makes the given programs all that PATH has.
func onPath(t *testing.T, programs map[string]string) {
	t.Helper()
	directory := t.TempDir()
	for name, script := range programs {
		writeProgram(t, filepath.Join(directory, name), script)
	}
	t.Setenv("PATH", directory)
}

func tarball(t *testing.T, name, content string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	for file, text := range map[string]string{"LICENSE": "free", name: content} {
		require.NoError(t, files.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(text))}))
		_, err := files.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, files.Close())
	require.NoError(t, zipped.Close())
	return archive.Bytes()
}

// downloadService answers as temporal.download does.
func downloadService(t *testing.T, archive []byte) (address string, downloads *atomic.Int32) {
	t.Helper()
	downloads = &atomic.Int32{}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /cli/"+temporalCLIVersion, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Get("platform") != runtime.GOOS || query.Get("arch") != runtime.GOARCH ||
			query.Get("sdk-name") != "sdk-go" || query.Get("sdk-version") != temporal.SDKVersion {
			http.Error(w, "unknown platform", http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"archiveUrl": server.URL + "/cli.tar.gz", "fileToExtract": "temporal"})
	})
	mux.HandleFunc("GET /cli.tar.gz", func(w http.ResponseWriter, _ *http.Request) {
		downloads.Add(1)
		_, _ = w.Write(archive)
	})
	return server.URL, downloads
}

func TestFindTemporalDev_theOneOnPathIsUsedAsItIs(t *testing.T) {
	onPath(t, map[string]string{"temporal": "#!/bin/sh\nexit 1\n"})
	binDir := t.TempDir()
	writeProgram(t, filepath.Join(binDir, devName), workingCLI)
	path, err := FindTemporalDev(t.Context(), binDir, (&output{}).line)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(os.Getenv("PATH"), "temporal"), path)
}

func TestFindTemporalDev_thenTheOneObtainedBefore(t *testing.T) {
	onPath(t, nil)
	binDir := t.TempDir()
	writeProgram(t, filepath.Join(binDir, devName), workingCLI)
	var progress output
	path, err := FindTemporalDev(t.Context(), binDir, progress.line)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(binDir, devName), path)
	require.Empty(t, progress.String(), "there is nothing to wait for")
}

func TestFindTemporalDev_thenAPrebuiltOne(t *testing.T) {
	onPath(t, nil)
	address, downloads := downloadService(t, tarball(t, "temporal", workingCLI))
	binDir := t.TempDir()
	writeProgram(t, filepath.Join(binDir, "temporal-dev-v0.0.1"), "#!/bin/sh\nexit 1\n") // another version
	var progress output
	source := temporalDevFinder{binDir: binDir, downloads: address, infoTimeout: poll.Deadline, interval: poll.Deadline, progress: progress.line}

	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			path, err := source.find(context.Background())
			if err != nil || path != filepath.Join(binDir, devName) {
				t.Errorf("found %q, %v", path, err)
			}
		})
	}
	both.Wait()
	require.EqualValues(t, 1, downloads.Load(), "two at once do the work once")
	program, err := os.ReadFile(filepath.Join(binDir, devName))
	require.NoError(t, err)
	require.Equal(t, workingCLI, string(program))
	require.Contains(t, progress.String(), "downloading the Temporal CLI from "+address)
	leftovers, err := filepath.Glob(filepath.Join(binDir, ".temporal-dev-*"))
	require.NoError(t, err)
	require.Empty(t, leftovers)
}

func TestFindTemporalDev_aBrokenDownloadIsNotKept(t *testing.T) {
	whole := tarball(t, "temporal", workingCLI+strings.Repeat("# padding\n", 1000))
	for name, archive := range map[string][]byte{
		"cut short":        whole[:len(whole)/2],
		"not an archive":   []byte("<html>"),
		"without the file": tarball(t, "another", workingCLI),
		"does not run":     tarball(t, "temporal", "#!/bin/sh\nexit 1\n"),
	} {
		t.Run(name, func(t *testing.T) {
			onPath(t, nil)
			address, _ := downloadService(t, archive)
			binDir := t.TempDir()
			_, err := temporalDevFinder{binDir: binDir, downloads: address, infoTimeout: poll.Deadline, interval: poll.Deadline, progress: (&output{}).line}.find(t.Context())
			require.Error(t, err)
			require.NoFileExists(t, filepath.Join(binDir, devName))
		})
	}
}

// TestFindTemporalDev_aClosedInternetIsGivenUp uses a listener that accepts connections and never
// answers, the worst that a firewall can do.
func TestFindTemporalDev_aClosedInternetIsGivenUp(t *testing.T) {
	onPath(t, nil)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()

	_, err = temporalDevFinder{binDir: t.TempDir(), downloads: "https://" + silent.Addr().String(), infoTimeout: 100 * time.Millisecond,
		interval: poll.Deadline, progress: (&output{}).line}.find(t.Context())
	require.ErrorContains(t, err, "did not answer within 100ms")
	require.ErrorContains(t, err, "the `go` command, which compiles the Temporal development server, is not on PATH")
	require.LessOrEqual(t, infoTimeout, 5*time.Second, "whoever starts for the first time waits for it")
}

// fakeGo behaves as `go install -v` does: it names modules and packages, takes its time, which is
// until the file of goMayEnd is there, and leaves a program in GOBIN.
const fakeGo = `#!/bin/sh
[ "$CGO_ENABLED" = 0 ] || { echo "cgo is on"; exit 1; }
[ -e go.mod ] && [ -e temporal.go ] || { echo "no such file or directory"; exit 1; }
echo 'go: downloading go.temporal.io/server v1.2.3' >&2
echo go.temporal.io/server/common/log >&2
echo go.temporal.io/server/service/frontend >&2
while [ ! -e "$DESPACHO_TEST_GO_MAY_END" ]; do /bin/sleep 0.05; done
case "$GOBIN" in /*) ;; *) echo "cannot install, GOBIN must be an absolute path"; exit 1 ;; esac
{ printf '%s\n' '#!/bin/sh' "echo $*"; /bin/sed 's/^/# /' go.mod; } > "$GOBIN/temporal"
/bin/chmod 755 "$GOBIN/temporal"
`

// goMayEnd names the file that fakeGo waits for.
const goMayEnd = "DESPACHO_TEST_GO_MAY_END"

func TestFindTemporalDev_elseItIsCompiled(t *testing.T) {
	onPath(t, map[string]string{"go": fakeGo})
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Chdir(t.TempDir())
	t.Setenv(goMayEnd, filepath.Join(t.TempDir(), "end"))
	var progress output
	atWork := regexp.MustCompile(`compiling the Temporal development server: 2 of about 1800 packages \(go\.temporal\.io/server/service/frontend\), \d+s`)
	tell := func(line string) {
		progress.line(line)
		if atWork.MatchString(line) {
			if err := os.WriteFile(os.Getenv(goMayEnd), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), poll.Deadline)
	defer cancel()
	// A relative directory, as the suite runner gives it: go itself takes none.
	path, err := temporalDevFinder{binDir: "bin", downloads: "http://127.0.0.1:1", infoTimeout: poll.Deadline, interval: 20 * time.Millisecond, progress: tell}.find(ctx)
	require.NoError(t, err, "progress: %s", &progress)
	require.True(t, filepath.IsAbs(path))
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(program), "echo install -v temporal.go\n")
	require.Contains(t, string(program), "go.temporal.io/server "+TemporalServerVersion, "the module file is where go runs")
	require.Contains(t, progress.String(), "this takes minutes, once")
	require.Regexp(t, atWork, progress.String())
}

// TestTemporalModule_hasTheVersionOfTheNames: programs are kept under names with that version.
func TestTemporalModule_hasTheVersionOfTheNames(t *testing.T) {
	t.Parallel()
	require.Contains(t, string(temporalModule), "\n\tgo.temporal.io/server "+TemporalServerVersion+"\n")
}
