package dev

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
)

// TemporalServerVersion is the server that docker-compose.yml runs and that the compiled
// development server is.
const TemporalServerVersion = "v1.32.1"

const (
	temporalServer         = "the Temporal server"
	temporalServerPackages = 1800
)

// TemporalServerPrograms are what a Temporal server on PostgreSQL is run with.
type TemporalServerPrograms struct {
	// Server is the server itself, SQLTool what sets up its schema.
	Server, SQLTool string
}

// FindTemporalServer returns the programs of a version that are kept in binDir. They are compiled
// from Go modules if they are not there yet. progress is called with what is going on, at least
// every five seconds.
func FindTemporalServer(ctx context.Context, binDir, version string, progress func(string)) (*TemporalServerPrograms, error) {
	binDir, err := filepath.Abs(binDir)
	if err != nil {
		return nil, err
	}
	// The version is part of the names: a program of another version is not taken for this one.
	programs := &TemporalServerPrograms{
		Server:  filepath.Join(binDir, "temporal-server-"+version),
		SQLTool: filepath.Join(binDir, "temporal-sql-tool-"+version),
	}
	build := goBuild{
		what: temporalServer, module: serverModule(version), size: temporalServerPackages, interval: progressInterval, progress: progress,
		packages: []string{
			"go.temporal.io/server/cmd/server",
			"go.temporal.io/server/cmd/tools/sql",
		},
	}
	return programs, installation{
		what: temporalServer, name: "temporal-server", binDir: binDir, interval: progressInterval, progress: progress,
		programs: map[string]string{"server": programs.Server, "sql": programs.SQLTool},
	}.ensure(ctx, build.into)
}

var goDirective = regexp.MustCompile(`(?m)^go .*$`)

// serverModule is the go.mod that a version is compiled with. Other versions than the development
// server's have nothing else in it: what its Web UI requires would change their dependencies.
func serverModule(version string) []byte {
	if version == TemporalServerVersion {
		return temporalModule
	}
	return fmt.Appendf(nil, "module despacho/temporal\n\n%s\n\nrequire go.temporal.io/server %s\n", goDirective.Find(temporalModule), version)
}
