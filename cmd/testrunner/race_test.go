package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// racing has a race in TestRace. TestOrdered has none: what one goroutine writes, the other reads
// after a sync.Map or a sync.Once, both of which uninstrumented packages use as well.
const racing = `package racing

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

type value struct{ number int }

func TestRace(t *testing.T) {
	var v value
	var goroutines sync.WaitGroup
	for range 2 {
		goroutines.Go(func() { v.number++ })
	}
	goroutines.Wait()
}

func TestOrdered(t *testing.T) {
	for i := range 1000 {
		var stored sync.Map
		var once sync.Once
		var first *value
		var goroutines sync.WaitGroup
		for range 4 {
			goroutines.Go(func() {
				text, err := json.Marshal(map[string]int{"number": i})
				if err != nil {
					t.Error(err)
				}
				mine := &value{}
				mine.number = len(fmt.Sprint(string(text)))
				found, _ := stored.LoadOrStore("key", mine)
				once.Do(func() { first = &value{number: i} })
				if found.(*value).number == 0 || first.number != i {
					t.Error("not what was stored")
				}
			})
		}
		goroutines.Wait()
	}
}
`

func TestRaceFlags_findWhatIsARaceAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs a C compiler, and compiles the standard library for the race detector")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module racing\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "racing_test.go"), []byte(racing), 0o644))
	run := func(name string) (string, error) {
		command := exec.CommandContext(t.Context(), "go", append([]string{"test", "-C=" + dir, "-count=1", "-run=" + name}, raceFlags()...)...)
		command.Env = append(os.Environ(), "CGO_ENABLED=1")
		output, err := command.CombinedOutput()
		return string(output), err
	}
	output, err := run("TestOrdered")
	require.NoError(t, err, output)
	output, err = run("TestRace")
	require.Error(t, err, output)
	require.Contains(t, output, "WARNING: DATA RACE")
}
