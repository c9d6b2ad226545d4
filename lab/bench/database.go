package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// templateDatabase has the schema, the catalog and the tenants; every service gets a copy.
const templateDatabase = "bench_template"

// prepareTemplate migrates with the `migrate` command.
func (s *stack) prepareTemplate(ctx context.Context) error {
	if err := s.execute(ctx, s.postgres.URL, "CREATE DATABASE "+templateDatabase); err != nil {
		return err
	}
	address := s.databaseURL(templateDatabase)
	if err := s.program().Run(ctx, map[string]string{"DATABASE_URL": address}, "migrate", "up"); err != nil {
		return err
	}
	var err error
	s.tenants, err = seedTenants(ctx, address, s.scale.operators)
	return err
}

// newDatabase is a copy of the template.
func (s *stack) newDatabase(ctx context.Context, name string) (address string, err error) {
	return s.databaseURL(name), s.execute(ctx, s.postgres.URL, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, templateDatabase))
}

func (s *stack) databaseURL(name string) string {
	address, err := url.Parse(s.postgres.URL)
	if err != nil {
		panic(err) // it has been connected to
	}
	address.Path = "/" + name
	return address.String()
}

func (s *stack) execute(ctx context.Context, address, statement string, args ...any) error {
	return onDatabase(ctx, address, func(connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, statement, args...)
		return err
	})
}

// onDatabase runs a function on a new connection.
func onDatabase(ctx context.Context, address string, run func(*pgx.Conn) error) error {
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(run(connection), connection.Close(context.WithoutCancel(ctx)))
}
