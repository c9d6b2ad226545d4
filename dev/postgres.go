package dev

import (
	"context"
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
		URL: "postgres://postgres@" + net.JoinHostPort(loopback, strconv.Itoa(port)) + "/postgres?sslmode=disable", Dir: directory,
	}
	p.Server = Server{directory: directory, ready: p.ping, command: Command{
		Name: "PostgreSQL", Path: filepath.Join(bin, "postgres"), Dir: directory, Credential: owner, Log: options.Log, Env: cleanPostgresEnv(),
		StopSignal: syscall.SIGINT, // fast: it ends the sessions instead of waiting for them
		Args:       append([]string{"-D", data}, postgresSettings(settings)...),
	}}
	if err := p.start(ctx, func(ctx context.Context) error { return p.createCluster(ctx, bin, data) }); err != nil {
		return nil, err
	}
	return p, nil
}

// createCluster runs initdb as the user that the server runs as.
func (p *Postgres) createCluster(ctx context.Context, bin, data string) error {
	if owner := p.command.Credential; owner != nil {
		if err := os.Chown(p.Dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("a place for PostgreSQL: %w", err)
		}
	}
	initdb, err := Start(Command{
		Name: "initdb", Path: filepath.Join(bin, "initdb"), Dir: p.Dir, Credential: p.command.Credential, Log: p.command.Log, Env: p.command.Env,
		Args: []string{"--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"},
	})
	if err != nil {
		return err
	}
	return initdb.Wait(ctx)
}

func (p *Postgres) ping(ctx context.Context) error {
	return OnDatabase(ctx, p.URL, func(connection *pgx.Conn) error { return connection.Ping(ctx) })
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
