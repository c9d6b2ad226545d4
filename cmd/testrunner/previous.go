package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// previousPackages are those whose tests read and write the tables of an earlier release.
var previousPackages = []string{"./internal/db", "./internal/operators", "./internal/orders", "./internal/webhooks", "./worker", "./api", "./internal/panel"}

// ofTheSchema are the tests that compare a release with its own migrations.
const ofTheSchema = "^(TestMigrat|TestCheckVersion)"

// migrationsDir holds the migrations.
const migrationsDir = "internal/db/migrations"

// testPrevious runs the tests of an earlier commit on the schema of this one: the processes of a
// release go on while the next one has migrated the database.
func testPrevious(ctx context.Context, commit string, out io.Writer) (passed bool, err error) {
	began := time.Now()
	if err := enterModule(ctx); err != nil {
		return false, err
	}
	if commit == "" {
		if commit, err = beforeNewestMigration(ctx); err != nil {
			return false, err
		}
	}
	dir, err := os.MkdirTemp("", "despacho-previous-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := checkOut(ctx, commit, dir); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "the tests of %s run on the migrations of this tree\n", commit)
	env := prepare(ctx, []suite{{needs: []need{compiler, postgres, temporal}}}, out)
	defer env.stop()
	if err := env.startServers(ctx, out); err != nil {
		return false, err
	}
	report := goTest(ctx, []testRun{{dir: dir, packages: previousPackages, skip: ofTheSchema, race: true}}, env, out)
	result := row{suite: "previous", took: time.Since(began)}
	for _, of := range report.packages {
		result.add(of.counts)
	}
	if report.failure != "" {
		result.fail(report.failure)
	}
	return summarize([]row{result}, result.took, out), nil
}

// beforeNewestMigration is the last commit without the newest migration.
func beforeNewestMigration(ctx context.Context) (string, error) {
	added, err := git(ctx, "log", "-1", "--diff-filter=A", "--format=%H", "--", migrationsDir)
	if err == nil && added == "" {
		err = errors.New("no commit has added a migration")
	}
	if err != nil {
		return "", err
	}
	return git(ctx, "rev-parse", added+"^")
}

// checkOut writes the files of a commit, with the migrations of this tree, to a directory.
func checkOut(ctx context.Context, commit, dir string) error {
	archive := filepath.Join(dir, "commit.tar")
	if _, err := git(ctx, "archive", "--output="+archive, commit); err != nil {
		return err
	}
	if output, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, output)
	}
	into := filepath.Join(dir, migrationsDir)
	if err := os.RemoveAll(into); err != nil {
		return err
	}
	return os.CopyFS(into, os.DirFS(migrationsDir))
}

func git(ctx context.Context, arguments ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", arguments...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = errors.New(strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(output)), nil
}
