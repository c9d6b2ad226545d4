package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

// installation is what docker-compose.yml describes: one PostgreSQL with the service's
// database and Temporal's two, a Temporal server, an api and a worker.
type installation struct {
	*stack
	method     postgresMethod
	copy       string // a directory that PostgreSQL can write to
	running    processGroup
	generation string
}

// postgresMethod is a way to copy a PostgreSQL and to start another from the copy.
type postgresMethod interface {
	// settings are those of the original.
	settings(copy string) map[string]string
	backup(ctx context.Context, server *dev.Postgres, copy string) error
	// restore starts a server from the copy.
	restore(ctx context.Context, s *cluster.Stack, copy string) error
}

func startInstallation(ctx context.Context, base *stack, method postgresMethod) (*installation, error) {
	p := &installation{stack: base, method: method, generation: "original"}
	var err error
	if p.copy, err = os.MkdirTemp("", "despacho-copy-"); err != nil {
		return nil, err
	}
	base.OnClose(func(context.Context) error { return os.RemoveAll(p.copy) })
	if err := os.Chmod(p.copy, 0o777); err != nil { // PostgreSQL is another user
		return nil, err
	}
	if err := base.StartPostgres(ctx, dev.PostgresOptions{Durable: true, Settings: method.settings(p.copy)}); err != nil {
		return nil, err
	}
	if err := p.startTemporal(ctx); err != nil {
		return nil, err
	}
	return p, p.prepareDatabase(ctx)
}

func (p *installation) startTemporal(ctx context.Context) error {
	return p.StartTemporalServer(ctx, p.options.BinDir, func(line string) { p.options.logf("%s", line) })
}

// prepareDatabase creates the service's database with an operator.
func (p *installation) prepareDatabase(ctx context.Context) (err error) {
	if p.databaseURL, err = p.CreateDatabase(ctx, "despacho", p.program(nil)); err != nil {
		return err
	}
	p.operator, err = seedOperator(ctx, p.databaseURL)
	return err
}

func (p *installation) program(variables map[string]string) *cluster.Program {
	program := p.Program(p.options.Binary, map[string]string{
		"DATABASE_URL": p.databaseURL, "AUTO_CANCEL_AFTER": p.options.AutoCancelAfter.String(),
	})
	for name, value := range variables {
		program.Variables[name] = value
	}
	return program
}

func (p *installation) serve(ctx context.Context, variables map[string]string) error {
	program := p.program(variables)
	api, err := p.running.add(ctx, p.stack, program, p.generation+"-api", cluster.API)
	if err != nil {
		return err
	}
	if _, err := p.running.add(ctx, p.stack, program, p.generation+"-worker", cluster.Worker); err != nil {
		return err
	}
	return p.running.probe(ctx, p.stack, api.Address)
}

func (p *installation) stop(ctx context.Context) error { return p.running.end(ctx, false) }

// backup copies the databases, then the photos: what a row refers to was written before the row.
func (p *installation) backup(ctx context.Context) error {
	if err := p.method.backup(ctx, p.Postgres, p.copy); err != nil {
		return err
	}
	return p.copyPhotos(ctx)
}

// copyPhotos accepts tar's exit status 1: a photo came while it read the directory.
func (p *installation) copyPhotos(ctx context.Context) error {
	err := runCommand(ctx, "tar", "-C", p.FilesDir(), "--exclude=.upload-*", "-cf", filepath.Join(p.copy, "photos.tar"), ".")
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 1 {
		return nil
	}
	return err
}

// chooseTarget is for the point in time alone. The photos are copied again, as they have to be
// along with the WAL.
func (p *installation) chooseTarget(ctx context.Context) (time.Time, error) {
	method, ok := p.method.(*pointInTime)
	if !ok {
		return time.Time{}, nil
	}
	method.target = time.Now()
	p.options.logf("the point in time is %s", method.target.UTC().Format(time.RFC3339Nano))
	return method.target, p.copyPhotos(ctx)
}

func (p *installation) loseAll(ctx context.Context) error {
	if method, ok := p.method.(*pointInTime); ok {
		if err := method.awaitArchive(ctx, p.Postgres); err != nil {
			return err
		}
	}
	err := p.running.end(ctx, true)
	p.Temporal.Kill()
	p.Postgres.Kill()
	return err
}

func (p *installation) restore(ctx context.Context) (*installation, error) {
	restored := &installation{stack: p.forInstallation(), method: p.method, copy: p.copy, generation: "restored"}
	directory, err := os.MkdirTemp("", "despacho-restored-")
	if err != nil {
		return nil, err
	}
	restored.Dir = directory
	restored.OnClose(func(context.Context) error { return os.RemoveAll(directory) })
	err = errors.Join(
		p.method.restore(ctx, &restored.Stack, p.copy),
		os.MkdirAll(restored.FilesDir(), 0o750),
		runCommand(ctx, "tar", "-C", restored.FilesDir(), "-xf", filepath.Join(p.copy, "photos.tar")),
	)
	if err == nil {
		restored.databaseURL = dev.DatabaseURL(restored.Postgres.URL, "despacho")
		err = restored.startTemporal(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, restored.Close(ctx))
	}
	return restored, nil
}

func (p *installation) close(ctx context.Context) error {
	err := p.running.end(ctx, false)
	if p.generation == "original" {
		return err // the drill closes the stack, whose certificates the restored one uses
	}
	return errors.Join(err, p.Close(ctx))
}

func runCommand(ctx context.Context, program string, arguments ...string) error {
	output, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, output)
	}
	return nil
}

// baseBackup is pg_basebackup: all databases as of one moment.
type baseBackup struct{}

func (baseBackup) settings(string) map[string]string { return nil }

func (baseBackup) backup(ctx context.Context, server *dev.Postgres, copy string) error {
	return server.Run(ctx, "pg_basebackup", "-d", server.URL, "-D", filepath.Join(copy, "base"), "-Ft", "-z", "-X", "fetch", "-c",
		"fast")
}

func (baseBackup) restore(ctx context.Context, s *cluster.Stack, copy string) error {
	return s.StartPostgres(ctx, dev.PostgresOptions{Durable: true, BaseBackup: filepath.Join(copy, "base", "base.tar.gz")})
}

// pointInTime is a base backup and the archived WAL after it.
type pointInTime struct {
	baseBackup
	target time.Time
}

func (*pointInTime) settings(copy string) map[string]string {
	archive := filepath.Join(copy, "archive")
	return map[string]string{
		"archive_mode": "on", "archive_timeout": "10s",
		"archive_command": fmt.Sprintf("mkdir -p %[1]s && test ! -f %[1]s/%%f && cp %%p %[1]s/.%%f && mv %[1]s/.%%f %[1]s/%%f",
			archive),
	}
}

// awaitArchive returns when the WAL until now is archived; without it archive_timeout bounds what
// is lost.
func (m *pointInTime) awaitArchive(ctx context.Context, server *dev.Postgres) error {
	return dev.OnDatabase(ctx, server.URL, func(connection *pgx.Conn) error {
		var segment string
		if err := connection.QueryRow(ctx, "SELECT pg_walfile_name(pg_switch_wal())").Scan(&segment); err != nil {
			return err
		}
		return cluster.Poll(ctx, time.Minute, "the WAL is not archived", func() (archived bool, err error) {
			err = connection.QueryRow(ctx, "SELECT coalesce(last_archived_wal >= $1, false) FROM pg_stat_archiver",
				segment).Scan(&archived)
			return archived, err
		})
	})
}

func (m *pointInTime) restore(ctx context.Context, s *cluster.Stack, copy string) error {
	return s.StartPostgres(ctx, dev.PostgresOptions{
		Durable: true, BaseBackup: filepath.Join(copy, "base", "base.tar.gz"), Recover: true,
		Settings: map[string]string{
			"restore_command":      "cp " + filepath.Join(copy, "archive") + "/%f %p",
			"recovery_target_time": m.target.UTC().Format("2006-01-02 15:04:05.999999+00"), "recovery_target_action": "promote",
		},
	})
}
