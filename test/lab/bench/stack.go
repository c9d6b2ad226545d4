package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

// stack is the servers and the service.
type stack struct {
	cluster.Stack
	options Options
	scale   scale

	apiLog   *os.File
	receiver *receiver
	tenants  *tenants
	// main is the service of most studies.
	main *service
}

// startStack starts the servers and the service. The caller must close the stack, also when there
// is an error.
func startStack(ctx context.Context, options Options, sc scale) (*stack, error) {
	s := &stack{options: options, scale: sc}
	for _, step := range []func(context.Context) error{
		s.open, s.startPostgres, s.startTemporal, s.startBareWorker, s.prepareTemplate, s.startMain,
	} {
		if err := step(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *stack) open(context.Context) error {
	if err := s.Open("despacho-bench-"); err != nil {
		return err
	}
	var err error
	if s.apiLog, err = os.Create(filepath.Join(s.Dir, "api.log")); err != nil {
		return err
	}
	s.OnClose(func(context.Context) error { return s.apiLog.Close() })
	if s.receiver, err = startReceiver(s.Certificates); err != nil {
		return err
	}
	s.OnClose(s.receiver.Stop)
	return nil
}

func (s *stack) startPostgres(ctx context.Context) error {
	return s.StartPostgres(ctx, dev.PostgresOptions{Settings: map[string]string{"track_commit_timestamp": "on"}})
}

func (s *stack) startTemporal(ctx context.Context) error {
	s.options.log("starting the Temporal server on PostgreSQL")
	return s.StartTemporalServer(ctx, s.options.BinDir, s.options.log)
}

// templateDatabase has the schema, the catalog and the tenants; every service gets a copy.
const templateDatabase = "bench_template"

func (s *stack) prepareTemplate(ctx context.Context) error {
	address, err := s.CreateDatabase(ctx, templateDatabase, s.program())
	if err != nil {
		return err
	}
	s.tenants, err = seedTenants(ctx, address, s.scale.operators)
	return err
}

// newDatabase is a copy of the template.
func (s *stack) newDatabase(ctx context.Context, name string) (address string, err error) {
	return dev.DatabaseURL(s.Postgres.URL, name),
		dev.Execute(ctx, s.Postgres.URL, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, templateDatabase))
}

func (s *stack) startMain(ctx context.Context) error {
	s.options.log("starting the service")
	address, err := s.newDatabase(ctx, "bench_main")
	if err != nil {
		return err
	}
	if s.main, err = s.startService(ctx, address, "main"); err != nil {
		return err
	}
	return s.main.registerReceiver(ctx)
}
