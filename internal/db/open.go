// Package db opens the database, migrates its schema and holds the queries.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/internal/batch"
	"despacho/internal/sqlitedialect"
	"despacho/internal/sqlitefile"
	"despacho/internal/telemetry"
)

// Dialect is the database engine.
type Dialect string

// The databases the service runs on.
const (
	Postgres Dialect = "postgres"
	SQLite   Dialect = "sqlite"
)

// DB is the service's database: PostgreSQL in production, or embedded SQLite.
type DB struct {
	gorm    *gorm.DB
	pool    *pool
	dialect Dialect
	// keys shares statements among requests with a key. It is nil on SQLite and in a transaction.
	keys *batch.Batcher[keyRequest, authenticated]
	// auditRetention is how long entries of the audit log are kept.
	auditRetention time.Duration
	// log is for goroutines that no request waits for; nil in a transaction.
	log *slog.Logger
}

// Options tune the handle.
type Options struct {
	// MaxConns bounds the connections to PostgreSQL; 0 means 20.
	MaxConns int
	// Logger logs statements that failed or were slow; nil disables it.
	Logger *slog.Logger
	// SlowStatement is the duration from which a statement is logged; 0 means one second.
	SlowStatement time.Duration
	// ConnectTimeout is how long Open waits for a database that does not answer; 0 means 5 seconds.
	ConnectTimeout time.Duration
	// AuditRetention is how long entries of the audit log are kept; 0 means DefaultAuditRetention.
	AuditRetention time.Duration
	// LockTimeout is how long a PostgreSQL statement waits for a lock before it fails; 0 means for
	// ever.
	LockTimeout time.Duration
	// AcquireTimeout is how long a statement waits for a connection before it fails with ErrBusy; 0
	// means as long as its context.
	AcquireTimeout time.Duration
	// IdleTransaction is how long PostgreSQL waits for the next statement of a transaction before it
	// ends it; 0 means 30 seconds. The database may have a time of its own, which is kept.
	IdleTransaction time.Duration
}

// Open connects to the database that DATABASE_URL names and pings it.
func Open(ctx context.Context, databaseURL string, options Options) (*DB, error) {
	options.MaxConns = cmp.Or(options.MaxConns, 20)
	options.SlowStatement = cmp.Or(options.SlowStatement, time.Second)
	options.ConnectTimeout = cmp.Or(options.ConnectTimeout, 5*time.Second)
	options.AuditRetention = cmp.Or(options.AuditRetention, DefaultAuditRetention)
	options.IdleTransaction = cmp.Or(options.IdleTransaction, 30*time.Second)
	log := cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	handle, dialect, err := connect(databaseURL, options)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, options.ConnectTimeout)
	defer cancel()
	if err := handle.PingContext(ctx); err != nil {
		handle.Close()
		return nil, fmt.Errorf("DATABASE_URL: the %s database does not answer: %w", dialect, singleLine(err))
	}
	if dialect == Postgres {
		if err := checkPooler(ctx, handle); err != nil {
			handle.Close()
			return nil, fmt.Errorf("DATABASE_URL: %w", singleLine(err))
		}
	}
	connections := &pool{DB: handle, wait: options.AcquireTimeout}
	orm, err := gorm.Open(dialectorOf(dialect, connections), &gorm.Config{
		Logger:                 newStatementLog(options.Logger, options.SlowStatement),
		SkipDefaultTransaction: true,
		// Reads name their columns: a prepared SELECT * fails once on every connection after a migration
		// has added a column to the table.
		QueryFields:          true,
		DisableAutomaticPing: true,
		NowFunc:              func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
	})
	if err != nil {
		handle.Close()
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	database := &DB{gorm: orm, pool: connections, dialect: dialect, auditRetention: options.AuditRetention, log: log}
	if dialect == Postgres {
		database.keys = batch.New(batchOptions(log), database.authenticateBatch)
	}
	return database, nil
}

func connect(databaseURL string, options Options) (*sql.DB, Dialect, error) {
	if path, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		handle, err := openSQLite(path)
		return handle, SQLite, err
	}
	if strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://") {
		handle, err := openPostgres(databaseURL, options)
		return handle, Postgres, err
	}
	return nil, "", errors.New(`must start with "postgres://" or "sqlite:"`)
}

func dialectorOf(dialect Dialect, connections *pool) gorm.Dialector {
	if dialect == SQLite {
		return sqlitedialect.New(connections)
	}
	return postgres.New(postgres.Config{Conn: connections})
}

func openPostgres(databaseURL string, options Options) (*sql.DB, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, addressError(err)
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "despacho"
	}
	if options.LockTimeout > 0 {
		config.RuntimeParams["lock_timeout"] = strconv.FormatInt(options.LockTimeout.Milliseconds(), 10)
	}
	keepAfter := config.OnPgError // false after a fatal error
	config.OnPgError = func(connection *pgconn.PgConn, err *pgconn.PgError) bool {
		return err.Code != readOnlyState && keepAfter(connection, err)
	}
	handle := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, connection *pgx.Conn) error {
		return prepareSession(ctx, connection, options.IdleTransaction)
	}))
	handle.SetMaxOpenConns(options.MaxConns)
	handle.SetMaxIdleConns(options.MaxConns)
	handle.SetConnMaxIdleTime(5 * time.Minute)
	return handle, nil
}

// addressError says why pgx refuses an address: a file that it names, such as sslrootcert, cannot
// be read, or the address itself is wrong. What pgx says of the latter may have the password in it.
func addressError(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return fmt.Errorf("names a file that cannot be read: %w", file)
	}
	return errors.New("is not a valid PostgreSQL address, or a certificate or key that it names is none")
}

// prepareSession makes PostgreSQL end a transaction of the connection that has no next statement
// for that long, unless the role, the database or DATABASE_URL has set a time. A process that
// stands still, or whose machine is gone, would keep its locks until PostgreSQL notices that the
// connection is dead, which takes hours by default.
//
// Whoever waits for a row goes on with what the other has written, which is read committed. Where
// the role or the database has another level, requests at the same row or key would fail instead of
// waiting.
//
// As parameters of the connection both would be refused by PgBouncer.
func prepareSession(ctx context.Context, connection *pgx.Conn, limit time.Duration) error {
	_, err := connection.Exec(ctx, fmt.Sprintf(`
		SELECT set_config(name, CASE name WHEN 'default_transaction_isolation' THEN 'read committed' ELSE '%d' END, FALSE)
		FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout' AND source = 'default'
		OR name = 'default_transaction_isolation' AND setting <> 'read committed'`, limit.Milliseconds()))
	return err
}

// openSQLite opens a file in WAL mode. A transaction is on the disk when it is committed: an order
// that was acknowledged outlives a power failure. The free space of the file is overwritten: it
// would keep what was erased. Transactions take the write lock when they begin: one that upgraded a
// read lock later would fail with SQLITE_BUSY instead of waiting.
func openSQLite(path string) (*sql.DB, error) {
	if path == "" {
		return nil, errors.New("sqlite: needs a path, for example sqlite:despacho.db")
	}
	parameters := url.Values{
		"_pragma":      {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)", "foreign_keys(1)", "secure_delete(1)"},
		"_txlock":      {"immediate"},
		"_time_format": {"sqlite"},
	}
	// SQLite would make the file readable for every user of the machine; the files beside it get its
	// permissions. If it cannot be made here, SQLite reports why.
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		file.Close()
	}
	handle, err := sql.Open("sqlite", sqlitefile.URI(path, parameters))
	if err != nil {
		return nil, err
	}
	handle.SetMaxOpenConns(8)
	handle.SetMaxIdleConns(8)
	return handle, nil
}

// Dialect returns the database engine.
func (d *DB) Dialect() Dialect { return d.dialect }

// SQL is the underlying connection pool, for metrics and migrations.
func (d *DB) SQL() *sql.DB { return d.pool.DB }

// Trace adds every statement to the trace of its request, if tracing is enabled.
func (d *DB) Trace() error { return telemetry.TraceGORM(d.gorm) }

// Use adds a GORM plugin. It must be called before the first statement.
func (d *DB) Use(plugin gorm.Plugin) error { return d.gorm.Use(plugin) }

// Close closes every connection.
func (d *DB) Close() error { return d.pool.Close() }

// InTx runs fn in one transaction.
func (d *DB) InTx(ctx context.Context, fn func(tx *DB) error) error {
	return d.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		return fn(&DB{gorm: tx, pool: d.pool, dialect: d.dialect, auditRetention: d.auditRetention})
	})
}

// InSnapshot runs fn, which reads, in a transaction in which every statement sees the same rows.
func (d *DB) InSnapshot(ctx context.Context, fn func(tx *DB) error) error {
	if d.dialect == SQLite {
		return d.InTx(ctx, fn)
	}
	return d.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		return fn(&DB{gorm: tx, pool: d.pool, dialect: d.dialect})
	}, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
}

func (d *DB) with(ctx context.Context) *gorm.DB { return d.gorm.WithContext(ctx) }

// forUpdate starts a query that locks the rows it reads until the transaction ends.
func (d *DB) forUpdate(ctx context.Context) *gorm.DB { return d.lock(ctx, "UPDATE") }

// lock is forUpdate with the given PostgreSQL lock strength. SQLite has a single writer and needs
// none.
func (d *DB) lock(ctx context.Context, strength string) *gorm.DB {
	if d.dialect == SQLite {
		return d.with(ctx)
	}
	return d.with(ctx).Clauses(clause.Locking{Strength: strength})
}

func singleLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
