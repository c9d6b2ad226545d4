package dev

import (
	"context"
	"path/filepath"
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

// FindTemporalServer returns the programs that are kept in binDir. They are compiled from Go
// modules if they are not there yet. progress is called with what is going on, at least every five
// seconds.
func FindTemporalServer(ctx context.Context, binDir string, progress func(string)) (*TemporalServerPrograms, error) {
	binDir, err := filepath.Abs(binDir)
	if err != nil {
		return nil, err
	}
	// The version is part of the names: a program of another version is not taken for this one.
	programs := &TemporalServerPrograms{
		Server:  filepath.Join(binDir, "temporal-server-"+TemporalServerVersion),
		SQLTool: filepath.Join(binDir, "temporal-sql-tool-"+TemporalServerVersion),
	}
	build := goBuild{
		what: temporalServer, module: temporalModule, size: temporalServerPackages, interval: progressInterval,
		progress: progress,
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
