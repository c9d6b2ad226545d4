package webhooks_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"despacho/internal/app"
	"despacho/internal/config"
	"despacho/test/apptest"
)

// workerVariable makes the test binary run as a worker process that a test can kill.
const workerVariable = "DESPACHO_TEST_AS_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		if err := runWorker(context.Background()); err != nil {
			slog.Error("worker ended", "error", err)
			os.Exit(1)
		}
		return
	}
	apptest.Main(m)
}

// runWorker runs a worker with the configuration of its environment until it is killed.
func runWorker(ctx context.Context) error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	cfg.Timeouts = apptest.LongTimeouts() // it is to be killed while it waits for a receiver
	a, err := app.Open(ctx, cfg, slog.Default(), app.Options{})
	if err != nil {
		return err
	}
	return a.RunWorker(ctx, nil)
}
