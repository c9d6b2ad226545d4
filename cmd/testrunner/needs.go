package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"despacho/internal/dev"
	"despacho/test/testenv"
)

// need is a program that a suite needs on the machine.
type need string

const (
	compiler need = "a C compiler, for the race detector"
	postgres need = "PostgreSQL"
	chromium need = "Chromium"
	temporal need = "Temporal"
	node     need = "Node, for the TypeScript client"
	python   need = "Python, for the Python client"
	php      need = "PHP, for the PHP client"
	curl     need = "curl, for the samples of the reference"
	// objectStorage is compiled from Go modules.
	objectStorage need = "an S3 server"
)

// debianPackages are the needs' Debian packages. Temporal and the S3 server have none: dev gets
// them.
var debianPackages = map[need][]string{
	compiler: {"gcc", "libc6-dev"},
	postgres: {"postgresql"},
	chromium: {"chromium-headless-shell"},
	node:     {"nodejs"},
	python:   {"python3"},
	php:      {"php-cli"},
	curl:     {"curl"},
}

// olderPackages take the place of packages that older releases of Debian do not have.
var olderPackages = map[string]string{"chromium-headless-shell": "chromium"}

// programs are the needs' command names.
var programs = map[need]string{node: "node", python: "python3", php: "php", curl: "curl"}

// present reports whether the machine has it.
func (n need) present(ctx context.Context) bool {
	switch n {
	case compiler:
		return hasCompiler(ctx)
	case postgres:
		_, err := dev.FindPostgres()
		return err == nil
	case chromium:
		_, err := testenv.FindChromium()
		return err == nil
	case node, python, php, curl:
		_, err := exec.LookPath(programs[n])
		return err == nil
	default:
		return true
	}
}

func hasCompiler(ctx context.Context) bool {
	command, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return false
	}
	fields := strings.Fields(string(command))
	if len(fields) == 0 {
		return false
	}
	_, err = exec.LookPath(fields[0])
	return err == nil
}

// install installs what is missing, where it may, and returns what is still missing with the
// reasons.
func install(ctx context.Context, needs []need, out io.Writer) map[need]string {
	missing := map[need]string{}
	var packages [][]string
	for _, n := range needs {
		if !n.present(ctx) {
			missing[n] = "it was not found, though its package is installed"
			packages = append(packages, debianPackages[n])
		}
	}
	if len(missing) == 0 {
		return missing
	}
	err := aptInstall(ctx, packages, out)
	for n := range missing {
		if n.present(ctx) {
			delete(missing, n)
		} else if err != nil {
			missing[n] = fmt.Sprintf("it is not installed (%v)", err)
		}
	}
	return missing
}

// aptInstall installs the packages of each need.
func aptInstall(ctx context.Context, needed [][]string, out io.Writer) error {
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return errors.New("without apt-get it is installed by hand")
	}
	if os.Geteuid() != 0 {
		return errors.New("only root may install it")
	}
	release, err := dev.LockFile(ctx, filepath.Join(os.TempDir(), "despacho-apt-get.lock"), "what apt-get installs",
		func(line string) { fmt.Fprintln(out, line) })
	if err != nil {
		return err
	}
	defer release()
	env := append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	run := func(arguments ...string) error {
		child, err := dev.Start(dev.Command{Name: "apt-get " + arguments[0], Path: apt, Args: arguments, Env: env, Log: out})
		if err != nil {
			return err
		}
		if err := child.Wait(ctx); err != nil {
			return fmt.Errorf("apt-get %s failed", arguments[0])
		}
		return nil
	}
	if err := run("update", "-qq"); err != nil {
		return err
	}
	return installTogether(needed, func(packages []string) error {
		packages = available(ctx, packages)
		fmt.Fprintf(out, "installing %s with apt-get\n", strings.Join(packages, ", "))
		return run(append([]string{"install", "-y", "-qq", "-o", "DPkg::Lock::Timeout=600", "--no-install-recommends"}, packages...)...)
	})
}

// installTogether installs the packages of all needs at once. Where that fails, it installs those
// of each need by themselves and returns the first error: apt-get installs nothing if the
// distribution lacks a single package, as Ubuntu does Chromium's.
func installTogether(needed [][]string, install func(packages []string) error) error {
	err := install(slices.Concat(needed...))
	if err == nil || len(needed) == 1 {
		return err
	}
	for _, packages := range needed {
		_ = install(packages) // whoever asks looks at what is there afterwards
	}
	return err
}

// available names the packages as this release of Debian does.
func available(ctx context.Context, packages []string) []string {
	names := slices.Clone(packages)
	for i, name := range names {
		if older := olderPackages[name]; older != "" && exec.CommandContext(ctx, "apt-cache", "show", name).Run() != nil {
			names[i] = older
		}
	}
	return names
}
