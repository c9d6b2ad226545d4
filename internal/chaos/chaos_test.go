package chaos

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/devstack"
	"despacho/internal/testenv"
)

const (
	testDuration = 20 * time.Second
	testPause    = 3 * time.Second
)

var promises = flag.Bool("promises", false, "break everything for a minute and check what the service promised")

// The promises are kept while everything is broken and replaced: the minute's version of `make chaos`, on servers of its own.
func TestPromises(t *testing.T) {
	if !*promises {
		t.Skip("without -promises nothing is broken")
	}
	if _, err := devstack.FindPostgres(); err != nil {
		t.Skip(err)
	}
	cli, err := testenv.TemporalCLI()
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "despacho")
	output, err := exec.Command("go", "build", "-o", binary, "despacho/cmd/despacho").CombinedOutput()
	require.NoError(t, err, string(output))
	out := &transcript{}
	err = Run(t.Context(), Options{
		Seed: 7, Duration: testDuration, Clients: 4, Pause: testPause, AutoCancelAfter: 8 * time.Second, Overload: 3 * time.Second,
		Out: out, JSON: filepath.Join(t.TempDir(), "chaos.json"), LogDir: t.ArtifactDir(), Binary: binary, BinDir: filepath.Dir(cli),
	})
	t.Log(out.String())
	require.NoError(t, err)
}

func TestRun_refusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	good := Options{Duration: time.Second, Clients: 1, Pause: time.Second, AutoCancelAfter: time.Second}
	for name, change := range map[string]func(*Options){
		"a part that does not exist": func(o *Options) { o.Only = "sabotage" },
		"no time":                    func(o *Options) { o.Duration = 0 },
		"nobody":                     func(o *Options) { o.Clients = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := good
			change(&options)
			require.Error(t, Run(t.Context(), options))
		})
	}
}

// transcript keeps what is printed, with the time since the first line.
type transcript struct {
	mu    sync.Mutex
	began time.Time
	text  strings.Builder
}

func (w *transcript) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began.IsZero() {
		w.began = time.Now()
	}
	fmt.Fprintf(&w.text, "%5.1fs %s", time.Since(w.began).Seconds(), line)
	return len(line), nil
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
