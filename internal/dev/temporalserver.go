package dev

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"text/template"

	"go.temporal.io/sdk/client"

	"despacho/deploy/temporal"
)

// TemporalServerOptions configure a Temporal server on PostgreSQL.
type TemporalServerOptions struct {
	Programs *TemporalServerPrograms
	// PostgresURL reaches the PostgreSQL that holds its two databases, as a user who may create
	// them and needs no password.
	PostgresURL string
	// HistoryShards cannot be changed after the first start; 0 is 512, as in docker-compose.yml.
	HistoryShards int
	// SearchAttributes are registered in the namespace "default": name → type ("Keyword", "Int",
	// …).
	SearchAttributes map[string]string
	// Log gets the output of the server and of the schema tool; nil discards it.
	Log io.Writer
}

// StartTemporalServer sets up the schema, starts the server on free loopback ports and returns when
// its namespace can be used. ctx bounds the start alone.
func StartTemporalServer(ctx context.Context, options TemporalServerOptions) (*Temporal, error) {
	postgres, err := url.Parse(options.PostgresURL)
	if err != nil {
		return nil, err
	}
	if err := setUpTemporalSchema(ctx, options, postgres); err != nil {
		return nil, err
	}
	ports, err := freePorts(loopback, 9)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "despacho-temporal-")
	if err != nil {
		return nil, fmt.Errorf("a place for Temporal's configuration: %w", err)
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(ports[0]))
	ready := temporalReadiness{
		addresses: []string{address}, namespace: client.DefaultNamespace, createNamespace: true,
		searchAttributes: options.SearchAttributes,
	}
	server := &Temporal{Address: address, Server: Server{directory: directory, ready: ready.check, command: Command{
		Name: "Temporal", Path: options.Programs.Server, Dir: directory, Log: options.Log,
		Env:  withoutTemporalVariables(os.Environ()),
		Args: []string{"--root", directory, "--config", ".", "--env", "development", "--allow-no-auth", "start"},
	}}}
	configure := func(context.Context) error {
		return writeTemporalConfiguration(directory, ports, options.HistoryShards, postgres)
	}
	if err := server.start(ctx, configure); err != nil {
		return nil, err
	}
	return server, nil
}

// setUpTemporalSchema does what the service temporal-schema of docker-compose.yml does.
func setUpTemporalSchema(ctx context.Context, options TemporalServerOptions, postgres *url.URL) error {
	for _, store := range []struct{ database, schema string }{{"temporal", "temporal"}, {"temporal_visibility", "visibility"}} {
		environment := append(cleanPostgresEnv(),
			"SQL_PLUGIN=postgres12", "SQL_HOST="+postgres.Hostname(), "SQL_PORT="+postgres.Port(),
			"SQL_USER="+postgres.User.Username(), "SQL_DATABASE="+store.database,
		)
		for _, arguments := range [][]string{
			{"create-database", "--defaultdb", "postgres"},
			{"setup-schema", "--version", "0.0"},
			{"update-schema", "--schema-name", "postgresql/v12/" + store.schema},
		} {
			tool, err := Start(Command{
				Name: "temporal-sql-tool " + arguments[0], Path: options.Programs.SQLTool, Args: arguments, Env: environment,
				Log: options.Log,
			})
			if err != nil {
				return err
			}
			if err := tool.Wait(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

//go:embed temporalserver.yaml
var temporalServerYAML string

var temporalServerConfiguration = template.Must(template.New("temporalserver.yaml").Parse(temporalServerYAML))

// writeTemporalConfiguration gives every part of the server a port of its own.
func writeTemporalConfiguration(directory string, ports []int, historyShards int, postgres *url.URL) error {
	var text bytes.Buffer
	err := temporalServerConfiguration.Execute(&text, map[string]any{
		"Postgres": postgres.Host, "User": postgres.User.Username(), "Shards": cmp.Or(historyShards, 512), "Host": loopback,
		"Ports": ports,
	})
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(directory, "development.yaml"), text.Bytes(), 0o600),
		os.WriteFile(filepath.Join(directory, "dynamicconfig.yaml"), temporal.DynamicConfig, 0o600),
	)
}
