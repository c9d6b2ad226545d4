package chaos

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/dev"
	"despacho/test/testenv"
)

const (
	testDuration = 20 * time.Second
	testPause    = 3 * time.Second
)

// The invariants hold under faults and a rolling restart: a one-minute version of `make chaos` on
// its own servers. The overload is left to `make chaos`: its goals are times and memory.
func TestPromises(t *testing.T) {
	t.Parallel()
	if _, err := dev.FindPostgres(); err != nil {
		t.Skip(err)
	}
	cli := testenv.TemporalCLI(t)
	binary := filepath.Join(t.TempDir(), "despacho")
	output, err := exec.Command("go", "build", "-C", "../../..", "-ldflags=-X main.release=chaos", "-o", binary, "./cmd/despacho").CombinedOutput()
	require.NoError(t, err, string(output))
	var out bytes.Buffer
	err = Run(t.Context(), Options{
		Seed: 7, Duration: testDuration, Clients: 4, Pause: testPause, AutoCancelAfter: 8 * time.Second, Slack: 10,
		Out: &out, JSON: filepath.Join(t.TempDir(), "chaos.json"), LogDir: t.ArtifactDir(), Binary: binary, BinDir: filepath.Dir(cli),
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
			require.Error(t, Drill(t.Context(), options))
		})
	}
}
