package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// PostgresOptions configure a temporary PostgreSQL.
type PostgresOptions struct {
	// Dir is where its directory is made; empty is the system's temporary directory. As root, it
	// must be one that other users can enter.
	Dir string
	// Durable has it wait for the disk, so that what was committed survives a crash. The default is
	// faster, for data that is thrown away.
	Durable bool
	// Settings override the defaults.
	Settings map[string]string
	// BaseBackup is the tar file of pg_basebackup, compressed or not, that the server starts from;
	// empty makes a new cluster. It must be readable by the user that the server runs as.
	BaseBackup string
	// Recover has the server recover from the archive that Settings name, as far as they say.
	Recover bool
	// Log gets the server's output; nil discards it.
	Log io.Writer
}

// Postgres is a running PostgreSQL whose data lasts as long as it runs.
type Postgres struct {
	Server
	// URL reaches it as the superuser.
	URL string
	// Dir holds all of its files.
	Dir string

	bin string
}

// StartPostgres creates a cluster, starts it on a free loopback port and returns when it answers.
// As root it runs as another user, since PostgreSQL refuses to be root. ctx bounds the start alone.
func StartPostgres(ctx context.Context, options PostgresOptions) (*Postgres, error) {
	bin, err := FindPostgres()
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	port, err := FreePort(loopback)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp(options.Dir, "despacho-pg-")
	if err != nil {
		return nil, fmt.Errorf("a place for PostgreSQL: %w", err)
	}
	settings := map[string]string{
		"listen_addresses":        loopback,
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": directory,
		"max_connections":         "300",
	}
	if !options.Durable {
		settings["fsync"], settings["synchronous_commit"], settings["full_page_writes"] = "off", "off", "off"
	}
	maps.Copy(settings, options.Settings)
	data := filepath.Join(directory, "data")
	p := &Postgres{
		URL: "postgres://postgres@" + net.JoinHostPort(loopback, strconv.Itoa(port)) + "/postgres?sslmode=disable",
		Dir: directory, bin: bin,
	}
	p.Server = Server{directory: directory, ready: p.ping, command: Command{
		Name: "PostgreSQL", Path: filepath.Join(bin, "postgres"), Dir: directory, Credential: owner, Log: options.Log,
		Env:        cleanPostgresEnv(),
		StopSignal: syscall.SIGINT, // fast: it ends the sessions instead of waiting for them
		Args:       append([]string{"-D", data}, postgresSettings(settings)...),
	}}
	if err := p.start(ctx, func(ctx context.Context) error { return p.createCluster(ctx, options, data) }); err != nil {
		return nil, err
	}
	return p, nil
}

// createCluster makes the data directory: with initdb, or from a base backup.
func (p *Postgres) createCluster(ctx context.Context, options PostgresOptions, data string) error {
	if owner := p.command.Credential; owner != nil {
		if err := os.Chown(p.Dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("a place for PostgreSQL: %w", err)
		}
	}
	if options.BaseBackup == "" {
		return p.Run(ctx, "initdb", "--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8",
			"--no-locale", "--no-sync")
	}
	if err := p.Run(ctx, "mkdir", "-m", "0700", data); err != nil {
		return err
	}
	if err := p.Run(ctx, "tar", "-xf", options.BaseBackup, "-C", data); err != nil || !options.Recover {
		return err
	}
	return p.Run(ctx, "touch", filepath.Join(data, "recovery.signal"))
}

// Run runs a program of PostgreSQL, or one on PATH, as the user that the server runs as, and waits
// for its end.
func (p *Postgres) Run(ctx context.Context, program string, arguments ...string) error {
	path := filepath.Join(p.bin, program)
	if !isProgram(path) {
		var err error
		if path, err = exec.LookPath(program); err != nil {
			return err
		}
	}
	process, err := Start(Command{
		Name: program, Path: path, Args: arguments, Dir: p.Dir, Credential: p.command.Credential, Log: p.command.Log,
		Env: p.command.Env,
	})
	if err != nil {
		return err
	}
	return process.Wait(ctx)
}

// ping fails while the server does not answer, or answers but is still recovering and takes no
// writes.
func (p *Postgres) ping(ctx context.Context) error {
	return OnDatabase(ctx, p.URL, func(connection *pgx.Conn) error {
		var recovering bool
		if err := connection.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&recovering); err != nil {
			return err
		}
		if recovering {
			return errors.New("PostgreSQL is recovering")
		}
		return nil
	})
}

func postgresSettings(settings map[string]string) []string {
	var arguments []string
	for name, value := range settings {
		arguments = append(arguments, "-c", name+"="+value)
	}
	return arguments
}

// cleanPostgresEnv drops PGDATA, PGPORT and the other PG variables, which mean another server.
func cleanPostgresEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "PG") })
}
