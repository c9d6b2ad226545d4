package chaos

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"despacho/internal/dev"
)

// fuzzTarget is a fuzz function and its directory.
type fuzzTarget struct{ dir, name string }

var fuzzFunction = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// fuzzTimeOver matches the output of a target that ran to the end of its time and was reported as
// failed all the same, which happens up to Go 1.26 (golang/go#75804). An input that fails, a panic
// and a target that hangs are reported in other words, below the name of an input or of a file.
var fuzzTimeOver = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL$`)

// fuzz runs every fuzz target of the module that the working directory is in.
func fuzz(ctx context.Context, options Options, report *report) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	targets, err := fuzzTargets(root)
	if err != nil {
		return err
	}
	options.logf("\n== %s: %d targets, %s each", partFuzz, len(targets), options.Fuzz)
	for _, f := range targets {
		if err := ctx.Err(); err != nil {
			return err
		}
		options.logf("%s %s", f.dir, f.name)
		report.checked(invariantFuzz, 1)
		if err := f.run(ctx, root, options.Fuzz); err != nil && ctx.Err() == nil {
			report.violate(invariantFuzz, f.dir+" "+f.name, "%v", err)
		}
	}
	return nil
}

func (f fuzzTarget) run(ctx context.Context, root string, duration time.Duration) error {
	compiler, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	test, err := dev.Start(dev.Command{
		Name: "go test -fuzz", Path: compiler, Dir: root,
		Args: []string{"test", "-run", "^$", "-fuzz", "^" + f.name + "$", "-fuzztime", duration.String(), "./" + filepath.ToSlash(f.dir)},
	})
	if err != nil {
		return err
	}
	if err := test.Wait(ctx); err != nil && !fuzzTimeOver.MatchString(err.Error()) {
		return err
	}
	return nil
}

// fuzzTargets finds the fuzz functions in the source, so that a new one needs no registration.
func fuzzTargets(root string) (targets []fuzzTarget, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, match := range fuzzFunction.FindAllSubmatch(source, -1) {
			targets = append(targets, fuzzTarget{dir: dir, name: string(match[1])})
		}
		return err
	})
	return targets, err
}

func moduleRoot(ctx context.Context) (string, error) {
	output, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	file := strings.TrimSpace(string(output))
	if err != nil || file == "" || file == os.DevNull {
		return "", fmt.Errorf("the fuzz targets are in the source: run this from the project's directory with Go installed (or skip them with --fuzz 0)")
	}
	return filepath.Dir(file), nil
}
