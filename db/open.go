// Package db opens the database, keeps its schema current and holds the queries.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"despacho/internal/telemetry"
)

// Dialect is the kind of database behind the handle.
type Dialect string

// The databases the service runs on.
const (
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
)

// DB is the service's database: PostgreSQL where real users are served, SQLite embedded.
type DB struct {
	gorm    *gorm.DB
	sql     *sql.DB
	dialect Dialect
	// batched is nil on SQLite and in a transaction.
	batched *batched
}

// Options tune the handle.
type Options struct {
	// MaxConns bounds the connections to PostgreSQL; 0 means 20.
	MaxConns int
	// Logger is told about statements that failed or were slow; nil means nobody is.
	Logger *slog.Logger
	// SlowStatement is how long a statement takes that the logger is told about; 0 means a second.
	SlowStatement time.Duration
	// ConnectTimeout is how long Open waits for a database that does not answer; 0 means 5 seconds.
	ConnectTimeout time.Duration
}

// Open connects to the database that DATABASE_URL names and makes sure that it answers.
func Open(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	options.MaxConns = cmp.Or(options.MaxConns, 20)
	options.SlowStatement = cmp.Or(options.SlowStatement, time.Second)
	options.ConnectTimeout = cmp.Or(options.ConnectTimeout, 5*time.Second)
	handle, dialector, dialect, err := connect(databaseURL, options)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, options.ConnectTimeout)
	defer cancel()
	if err := handle.PingContext(ctx); err != nil {
		handle.Close()
		return nil, fmt.Errorf("DATABASE_URL: the %s database does not answer: %w", dialect, singleLine(err))
	}
	orm, err := gorm.Open(dialector, &gorm.Config{
		Logger:                 newStatementLog(options.Logger, options.SlowStatement),
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		NowFunc:                func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
	})
	if err != nil {
		handle.Close()
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	database := &DB{gorm: orm, sql: handle, dialect: dialect}
	if dialect == Postgres {
		database.batched = newBatched(database)
	}
	return database, nil
}

func connect(databaseURL string, options Options) (*sql.DB, gorm.Dialector, Dialect, error) {
	if path, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		handle, err := openSQLite(path)
		return handle, sqlite.Dialector{Conn: handle}, SQLite, err
	}
	if strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://") {
		handle, err := openPostgres(databaseURL, options.MaxConns)
		return handle, postgres.New(postgres.Config{Conn: handle}), Postgres, err
	}
	return nil, nil, "", errors.New(`must start with "postgres://" or "sqlite:"`)
}

func openPostgres(databaseURL string, maxConns int) (*sql.DB, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, errors.New("is not a valid PostgreSQL address")
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "despacho"
	}
	handle := stdlib.OpenDB(*config)
	handle.SetMaxOpenConns(maxConns)
	handle.SetMaxIdleConns(maxConns)
	handle.SetConnMaxIdleTime(5 * time.Minute)
	return handle, nil
}

// openSQLite opens a file in write-ahead mode. Transactions take the write lock when they begin:
// one that read first and wanted to write later would fail with "busy" instead of waiting its turn.
func openSQLite(path string) (*sql.DB, error) {
	if path == "" {
		return nil, errors.New("sqlite: needs a path, for example sqlite:despacho.db")
	}
	parameters := url.Values{
		"_pragma":      {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)", "foreign_keys(1)"},
		"_txlock":      {"immediate"},
		"_time_format": {"sqlite"},
	}
	handle, err := sql.Open("sqlite", "file:"+path+"?"+parameters.Encode())
	if err != nil {
		return nil, err
	}
	handle.SetMaxOpenConns(8)
	handle.SetMaxIdleConns(8)
	return handle, nil
}

// Dialect tells which database this is.
func (d *DB) Dialect() Dialect { return d.dialect }

// SQL is the pool underneath, for metrics and migrations.
func (d *DB) SQL() *sql.DB { return d.sql }

// Trace adds every statement to the trace of its request, if there are traces.
func (d *DB) Trace() error { return telemetry.TraceGORM(d.gorm) }

// Use adds a plugin that is told of every statement. It comes before the first one.
func (d *DB) Use(plugin gorm.Plugin) error { return d.gorm.Use(plugin) }

// Ping makes sure that the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.sql.PingContext(ctx) }

// Close ends every connection.
func (d *DB) Close() error { return d.sql.Close() }

// InTx runs fn in one transaction: all of what it writes is kept, or nothing.
func (d *DB) InTx(ctx context.Context, fn func(tx *DB) error) error {
	return d.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		return fn(&DB{gorm: tx, sql: d.sql, dialect: d.dialect})
	})
}

func (d *DB) with(ctx context.Context) *gorm.DB { return d.gorm.WithContext(ctx) }

// forUpdate starts a query that locks what it reads until the transaction ends.
func (d *DB) forUpdate(ctx context.Context) *gorm.DB { return d.lock(ctx, "UPDATE") }

// lock is forUpdate with a lock of PostgreSQL's choice of strengths. SQLite has one writer anyway.
func (d *DB) lock(ctx context.Context, strength string) *gorm.DB {
	if d.dialect == SQLite {
		return d.with(ctx)
	}
	return d.with(ctx).Clauses(clause.Locking{Strength: strength})
}

// ErrNotFound says that no row matched.
var ErrNotFound = gorm.ErrRecordNotFound

// IsDuplicate reports whether err is a violated unique constraint, in either database.
func IsDuplicate(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	var lite *sqlitedriver.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlitelib.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlitelib.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

func singleLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}

// statementLog tells about statements that failed or were slow. GORM's logger alone would write out
// the text of every statement before it knows whether anybody wants to read it.
type statementLog struct {
	logger.Interface
	slow time.Duration
}

func newStatementLog(log *slog.Logger, slow time.Duration) logger.Interface {
	if log == nil {
		return logger.Discard
	}
	return statementLog{logger.NewSlogLogger(log, logger.Config{
		SlowThreshold:             slow,
		LogLevel:                  logger.Warn,
		IgnoreRecordNotFoundError: true,
	}), slow}
}

// Trace is called after every statement.
func (l statementLog) Trace(ctx context.Context, began time.Time, statement func() (string, int64), err error) {
	if (err != nil && !IsNotFound(err)) || time.Since(began) > l.slow {
		l.Interface.Trace(ctx, began, statement, err)
	}
}

// ParamsFilter keeps values out of the log: they may be personal data.
func (statementLog) ParamsFilter(_ context.Context, text string, _ ...any) (string, []any) {
	return text, nil
}
