package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// source is what a release is built from.
type source struct {
	commit, version string
	modified        bool
	// epoch is the time of everything that has one: SOURCE_DATE_EPOCH, or the commit's.
	epoch time.Time
}

// describe reads the commit that is checked out in a directory.
func describe(ctx context.Context, directory string) (source, error) {
	var s source
	commit, err := git(ctx, directory, "rev-parse", "HEAD")
	if err != nil {
		return s, err
	}
	version, err := git(ctx, directory, "describe", "--tags", "--exact-match")
	if err != nil { // it has no tag
		if version, err = git(ctx, directory, "rev-parse", "--short=12", "HEAD"); err != nil {
			return s, err
		}
	}
	changes, err := git(ctx, directory, "status", "--porcelain")
	if err != nil {
		return s, err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = git(ctx, directory, "log", "-1", "--format=%ct"); err != nil {
			return s, err
		}
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, fmt.Errorf("SOURCE_DATE_EPOCH must be a number of seconds, not %q", seconds)
	}
	return source{commit: commit, version: version, modified: changes != "", epoch: time.Unix(unix, 0).UTC()}, nil
}

// release is the version that is built, under the given name if there is one. It says that the tree
// has changes: two builds of one name would differ.
func (s source) release(name string) string {
	version := cmp.Or(name, s.version)
	if s.modified {
		version += "-modified"
	}
	return version
}

// export writes the files of a commit to a new directory.
func export(ctx context.Context, commit, directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	archive := directory + ".tar"
	if _, err := git(ctx, ".", "archive", "--format=tar", "--output="+archive, commit); err != nil {
		return err
	}
	defer os.Remove(archive)
	return run(exec.CommandContext(ctx, "tar", "-xf", archive, "-C", directory))
}

func git(ctx context.Context, directory string, arguments ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", append([]string{"-C", directory}, arguments...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", arguments[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(output)), err
}

// run runs a command; its output is in the error.
func run(command *exec.Cmd) error {
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, output)
	}
	return nil
}
