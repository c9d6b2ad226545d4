package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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
	if !compiler.present(t.Context()) {
		t.Skip(compiler)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module racing\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "racing_test.go"), []byte(racing), 0o644))
	variables := append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS="+goFlags(t.Context()))
	run := func(skip string) (string, error) {
		var output strings.Builder
		err := execute(t.Context(), testRun{dir: dir, packages: []string{"."}, skip: skip, race: true}.command(), variables, &output)
		return output.String(), err
	}
	output, err := run("TestRace")
	require.NoError(t, err, output)
	output, err = run("TestOrdered")
	require.Error(t, err, output)
	require.Contains(t, output, "WARNING: DATA RACE")
}

func TestUninstrumentedSync_usesNoAtomics(t *testing.T) {
	t.Parallel()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-C=../..", "-deps", "-f={{.ImportPath}} {{.Imports}}", "./...").Output()
	require.NoError(t, err)
	for _, pattern := range uninstrumentedSync {
		root, below := strings.CutSuffix(pattern, "/...")
		expression := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(root), `\.\.\.`, `\S+`)
		if below {
			expression += `(/\S+)?`
		}
		packages := regexp.MustCompile(expression+" .*$").FindAllString(string(output), -1)
		require.NotEmpty(t, packages, pattern)
		require.NotContains(t, strings.Join(packages, "\n"), "sync/atomic", pattern)
	}
}
