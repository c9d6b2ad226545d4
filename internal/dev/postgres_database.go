package dev

import (
	"context"
	"errors"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// DatabaseURL is a PostgreSQL server's URL with another database in it.
func DatabaseURL(server, name string) string {
	address, err := url.Parse(server)
	if err != nil {
		panic(err) // the URL has been used to connect
	}
	address.Path = "/" + name
	return address.String()
}

// OnDatabase runs a function on a new connection.
func OnDatabase(ctx context.Context, databaseURL string, run func(*pgx.Conn) error) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	return errors.Join(run(connection), connection.Close(context.WithoutCancel(ctx)))
}

// Execute runs a statement on a new connection.
func Execute(ctx context.Context, databaseURL, statement string, arguments ...any) error {
	return OnDatabase(ctx, databaseURL, func(connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, statement, arguments...)
		return err
	})
}
