package db

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrBusy means that no connection was free in time.
var ErrBusy = errors.New("all connections to the database are in use")

// pool hands out the connections to the database. It is what GORM runs statements with.
type pool struct {
	*sql.DB
	// wait is how long a statement or a transaction waits for its connection; 0 is as long as its
	// context.
	wait time.Duration
	// returning are the connections that are given back after their use.
	returning sync.WaitGroup
}

// Conn returns a connection, or ErrBusy.
func (p *pool) Conn(ctx context.Context) (*sql.Conn, error) {
	if p.wait == 0 {
		return p.DB.Conn(ctx)
	}
	waiting, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	connection, err := p.DB.Conn(waiting)
	var connecting *pgconn.ConnectError
	if err != nil && ctx.Err() == nil && waiting.Err() != nil && !errors.As(err, &connecting) {
		return nil, ErrBusy
	}
	return connection, err
}

// ExecContext runs a statement without rows.
func (p *pool) ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error) {
	connection, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.ExecContext(ctx, statement, arguments...)
}

// QueryContext runs a statement with rows.
func (p *pool) QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error) {
	connection, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer p.giveBackAfterUse(connection)
	return connection.QueryContext(ctx, statement, arguments...)
}

// BeginTx begins a transaction.
func (p *pool) BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error) {
	connection, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer p.giveBackAfterUse(connection)
	return connection.BeginTx(ctx, options)
}

// giveBackAfterUse gives a connection back once its rows have been read or its transaction has
// ended: Close of a connection waits for that.
func (p *pool) giveBackAfterUse(connection *sql.Conn) {
	p.returning.Go(func() { _ = connection.Close() })
}

// Close closes every connection once it is given back.
func (p *pool) Close() error {
	err := p.DB.Close()
	p.returning.Wait()
	return err
}
