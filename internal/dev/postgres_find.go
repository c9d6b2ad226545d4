package dev

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrNoPostgres says that this machine has no PostgreSQL server to run.
var ErrNoPostgres = errors.New("PostgreSQL's initdb and postgres were found neither on PATH nor where distributions put them")

// postgresPlaces is where Debian, Red Hat and Homebrew put the server programs, which they keep off
// PATH.
var postgresPlaces = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
}

// FindPostgres returns the directory of PostgreSQL's server programs, or ErrNoPostgres.
func FindPostgres() (string, error) {
	var directories []string
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(initdb); err == nil {
			directories = append(directories, filepath.Dir(real))
		}
	}
	if output, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		directories = append(directories, strings.TrimSpace(string(output)))
	}
	for _, pattern := range postgresPlaces {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found) // the newest first
		directories = append(directories, found...)
	}
	for _, directory := range directories {
		if isProgram(filepath.Join(directory, "initdb")) && isProgram(filepath.Join(directory, "postgres")) {
			return directory, nil
		}
	}
	return "", ErrNoPostgres
}

// unprivileged is the user PostgreSQL runs as when we are root; nil when we are not.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
}
