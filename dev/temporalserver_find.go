package dev

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// TemporalServerVersion is the server that FindTemporalServer builds, the one that
// docker-compose.yml runs.
const TemporalServerVersion = "v1.29.1"

const (
	temporalServer         = "the Temporal server"
	temporalServerPackages = 1200
)

// TemporalServerPrograms are what a Temporal server on PostgreSQL is run with.
type TemporalServerPrograms struct {
	// Server is the server itself, SQLTool what sets up its schema.
	Server, SQLTool string
}

func (p TemporalServerPrograms) exist() bool { return isProgram(p.Server) && isProgram(p.SQLTool) }

// FindTemporalServer returns the programs kept in binDir, which are compiled from Go modules if
// they are not there yet. progress is told what is going on, at least every five seconds.
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
	if programs.exist() {
		return programs, nil
	}
	lock := buildLock{file: filepath.Join(binDir, ".temporal-server.lock"), what: temporalServer, interval: progressInterval, progress: progress}
	release, err := lock.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if programs.exist() { // another process got them while we waited
		return programs, nil
	}
	return programs, programs.compile(ctx, binDir, progress)
}

// compile builds the programs beside their final place and renames them there, so that nobody ever
// runs half of one.
func (p *TemporalServerPrograms) compile(ctx context.Context, binDir string, progress func(string)) error {
	workDir, err := os.MkdirTemp(binDir, ".temporal-server-")
	if err != nil {
		return fmt.Errorf("a place for %s: %w", temporalServer, err)
	}
	defer os.RemoveAll(workDir)
	build := goBuild{
		what: temporalServer, size: temporalServerPackages, interval: progressInterval, progress: progress,
		packages: []string{
			"go.temporal.io/server/cmd/server@" + TemporalServerVersion,
			"go.temporal.io/server/cmd/tools/sql@" + TemporalServerVersion,
		},
	}
	if err := build.into(ctx, workDir); err != nil {
		return fmt.Errorf("%s could not be compiled: %w", temporalServer, err)
	}
	for built, place := range map[string]string{"sql": p.SQLTool, "server": p.Server} {
		if err := os.Rename(filepath.Join(workDir, built), place); err != nil {
			return fmt.Errorf("putting %s in place: %w", temporalServer, err)
		}
	}
	progress(temporalServer + " is ready in " + p.Server)
	return nil
}
