package dev

import (
	"bytes"
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
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

// TemporalServerOptions configure a Temporal server on PostgreSQL.
type TemporalServerOptions struct {
	Programs *TemporalServerPrograms
	// PostgresURL reaches the PostgreSQL that holds its two databases, as a user who may create
	// them and needs no password.
	PostgresURL string
	// HistoryShards cannot be changed after the first start; 0 is 128, as in docker-compose.yml.
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
	directory, err := os.MkdirTemp("", "despacho-temporal-")
	if err != nil {
		return nil, fmt.Errorf("a place for Temporal's configuration: %w", err)
	}
	server := &Temporal{directory: directory}
	ctx, cancel := context.WithTimeoutCause(ctx, temporalStartTimeout, fmt.Errorf("Temporal was not ready within %s", temporalStartTimeout))
	defer cancel()
	if err := server.startOnPostgres(ctx, options, postgres); err != nil {
		return nil, errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	return server, nil
}

func (t *Temporal) startOnPostgres(ctx context.Context, options TemporalServerOptions, postgres *url.URL) error {
	if err := t.writeConfiguration(options, postgres); err != nil {
		return err
	}
	var err error
	t.process, err = Start(Command{
		Name: "Temporal", Path: options.Programs.Server, Dir: t.directory, Log: options.Log,
		Env:  withoutTemporalVariables(os.Environ()),
		Args: []string{"--root", t.directory, "--config", ".", "--env", "development", "--allow-no-auth", "start"},
	})
	if err != nil {
		return err
	}
	if err := t.process.poll(ctx, func(ctx context.Context) error { return dialTCP(ctx, t.Address) }); err != nil {
		return err
	}
	if err := t.createNamespace(ctx); err != nil {
		return err
	}
	return t.waitUntilReady(ctx, TemporalOptions{Namespace: client.DefaultNamespace, SearchAttributes: options.SearchAttributes}, "")
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
				Name: "temporal-sql-tool " + arguments[0], Path: options.Programs.SQLTool, Args: arguments, Env: environment, Log: options.Log,
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

// writeConfiguration gives every part of the server a free port.
func (t *Temporal) writeConfiguration(options TemporalServerOptions, postgres *url.URL) error {
	if options.HistoryShards == 0 {
		options.HistoryShards = 128
	}
	ports, err := freePorts(loopback, 9)
	if err != nil {
		return err
	}
	t.Address = net.JoinHostPort(loopback, strconv.Itoa(ports[0]))
	var text bytes.Buffer
	err = temporalServerConfiguration.Execute(&text, map[string]any{
		"Postgres": postgres.Host, "User": postgres.User.Username(), "Shards": options.HistoryShards, "Host": loopback, "Ports": ports,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.directory, "development.yaml"), text.Bytes(), 0o600)
}

// createNamespace is polled: an open port is not yet a server that serves.
func (t *Temporal) createNamespace(ctx context.Context) error {
	connection, err := client.NewLazyClient(client.Options{HostPort: t.Address, Logger: discardLogger})
	if err != nil {
		return err
	}
	defer connection.Close()
	return t.process.poll(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := connection.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace: client.DefaultNamespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
		})
		var already *serviceerror.NamespaceAlreadyExists
		if errors.As(err, &already) {
			return nil
		}
		return err
	})
}
