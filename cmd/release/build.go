package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// target is a platform, with its instruction set: a machine's own settings must not choose it.
type target struct{ goos, goarch, level string }

var targets = []target{{"linux", "amd64", "GOAMD64=v1"}, {"linux", "arm64", "GOARM64=v8.0"}}

// build is what one release is made of.
type build struct {
	// directory is the module's.
	directory, pkg, name, version, commit string
	epoch                                 time.Time
	targets                               []target
	out                                   string
	// withoutCache compiles every package again.
	withoutCache bool
}

// validVersion is what may be part of a file name, of a linker flag and of an image's tag.
var validVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (b build) sums() string { return filepath.Join(b.out, "SHA256SUMS") }

// run builds the binary and the image of every target, each with its bill of materials, and writes
// the sums.
func (b build) run(ctx context.Context, out io.Writer) error {
	if !validVersion.MatchString(b.version) {
		return fmt.Errorf("version %q must be at most 63 letters, digits, dots, hyphens and underscores", b.version)
	}
	for _, path := range []*string{&b.out, &b.directory} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	if inside, err := filepath.Rel(b.out, b.directory); err == nil && filepath.IsLocal(inside) {
		return fmt.Errorf("the sources are in %s, and what is there would be removed: choose another directory", b.out)
	}
	if err := errors.Join(os.RemoveAll(b.out), os.MkdirAll(b.out, 0o755)); err != nil {
		return err
	}
	for _, target := range b.targets {
		binary := filepath.Join(b.out, strings.Join([]string{b.name, b.version, target.goos, target.goarch}, "_"))
		if err := run(b.compile(ctx, target, binary)); err != nil {
			return err
		}
		image := binary + ".image.tar"
		if err := b.writeImage(target, binary, image); err != nil {
			return err
		}
		if err := b.writeBills(binary, image); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s\n", binary, image)
	}
	return b.writeSums()
}

// compile is the command that compiles one target. Neither the directory nor the machine, its
// environment or its Git may show in the binary.
func (b build) compile(ctx context.Context, target target, binary string) *exec.Cmd {
	arguments := []string{
		"build", "-trimpath", "-tags=nomsgpack", "-buildvcs=false", "-mod=readonly", "-ldflags=-s -w -buildid= -X main.release=" + b.version, "-o", binary,
	}
	if b.withoutCache {
		arguments = append(arguments, "-a")
	}
	command := exec.CommandContext(ctx, "go", append(arguments, b.pkg)...)
	command.Dir = b.directory
	command.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOOS="+target.goos, "GOARCH="+target.goarch, target.level, "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	return command
}

// writeSums writes SHA256SUMS as sha256sum reads it, and gives every file the release's time.
func (b build) writeSums() error {
	entries, err := os.ReadDir(b.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	names := make([]string, 0, len(entries)+1)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(b.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", digest(content), entry.Name())
		names = append(names, entry.Name())
	}
	if err := os.WriteFile(b.sums(), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	for _, name := range slices.Concat(names, []string{filepath.Base(b.sums())}) {
		if err := os.Chtimes(filepath.Join(b.out, name), b.epoch, b.epoch); err != nil {
			return err
		}
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
