package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresStartTimeout covers initdb and the first start on a loaded machine; only a hang reaches
// it.
const postgresStartTimeout = 3 * time.Minute

// PostgresOptions configure a temporary PostgreSQL.
type PostgresOptions struct {
	// Dir is where its directory is made; empty is the system's temporary directory. As root, it
	// must be one that other users can enter.
	Dir string
	// Settings override the defaults, which turn off fsync.
	Settings map[string]string
	// Log gets the server's output; nil discards it.
	Log io.Writer
}

// Postgres is a running PostgreSQL whose data lasts as long as it runs.
type Postgres struct {
	// URL reaches it as the superuser.
	URL string
	// Dir holds all of its files.
	Dir string

	command Command
	process *Process
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
	directory, err := os.MkdirTemp(options.Dir, "despacho-pg-")
	if err != nil {
		return nil, fmt.Errorf("a place for PostgreSQL: %w", err)
	}
	server := &Postgres{Dir: directory}
	ctx, cancel := context.WithTimeoutCause(ctx, postgresStartTimeout, fmt.Errorf("PostgreSQL was not ready within %s", postgresStartTimeout))
	defer cancel()
	if err := server.start(ctx, bin, owner, options); err != nil {
		return nil, errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	return server, nil
}

// Done is closed when the server has ended.
func (p *Postgres) Done() <-chan struct{} { return p.process.Done() }

// Err says why a server ended that was not stopped.
func (p *Postgres) Err() error { return p.process.Err() }

// Kill ends the server and its sessions as a crash would; Restart brings it back with the same data
// at the same address.
func (p *Postgres) Kill() { p.process.Kill() }

// Pause stops the server and its sessions with SIGSTOP; Resume continues them.
func (p *Postgres) Pause() { p.process.Pause() }

// Resume ends a pause.
func (p *Postgres) Resume() { p.process.Resume() }

// Restart starts a server that has ended. ctx bounds the start alone.
func (p *Postgres) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, postgresStartTimeout, fmt.Errorf("PostgreSQL was not back within %s", postgresStartTimeout))
	defer cancel()
	for {
		err := p.launch(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		// Shared memory that a dying session still holds keeps the new server from starting for a
		// moment.
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(readyPoll):
		}
	}
}

// Stop ends the server and removes its files.
func (p *Postgres) Stop(ctx context.Context) error {
	var err error
	if p.process != nil {
		err = p.process.Stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(p.Dir))
}

func (p *Postgres) start(ctx context.Context, bin string, owner *syscall.Credential, options PostgresOptions) error {
	if owner != nil {
		if err := os.Chown(p.Dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("a place for PostgreSQL: %w", err)
		}
	}
	data := filepath.Join(p.Dir, "data")
	initdb, err := Start(Command{
		Name: "initdb", Path: filepath.Join(bin, "initdb"), Dir: p.Dir, Credential: owner, Log: options.Log, Env: cleanPostgresEnv(),
		Args: []string{"--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"},
	})
	if err != nil {
		return err
	}
	if err := initdb.Wait(ctx); err != nil {
		return err
	}
	port, err := FreePort(loopback)
	if err != nil {
		return err
	}
	settings := map[string]string{
		"listen_addresses":        loopback,
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": p.Dir,
		"max_connections":         "300",
		// The data is thrown away: nothing needs to reach the disk.
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
	}
	maps.Copy(settings, options.Settings)
	p.command = Command{
		Name: "PostgreSQL", Path: filepath.Join(bin, "postgres"), Dir: p.Dir, Credential: owner, Log: options.Log, Env: cleanPostgresEnv(),
		StopSignal: syscall.SIGINT, // fast: it ends the sessions instead of waiting for them
		Args:       append([]string{"-D", data}, postgresSettings(settings)...),
	}
	p.URL = "postgres://postgres@" + net.JoinHostPort(loopback, strconv.Itoa(port)) + "/postgres?sslmode=disable"
	return p.launch(ctx)
}

// launch starts the server on its data and returns when it answers.
func (p *Postgres) launch(ctx context.Context) error {
	var err error
	if p.process, err = Start(p.command); err != nil {
		return err
	}
	return p.process.poll(ctx, func(ctx context.Context) error {
		connection, err := pgx.Connect(ctx, p.URL)
		if err != nil {
			return err
		}
		return errors.Join(connection.Ping(ctx), connection.Close(ctx))
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
