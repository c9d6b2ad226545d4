package main

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"despacho/app"
	"despacho/dev"
	"despacho/internal/config"
	"despacho/internal/telemetry"
)

// gcHeadroom counts as memory in use but is never touched, so that it takes none: the garbage of the api, which keeps little and makes much, is then
// collected a few times a second under load, not dozens of times.
const gcHeadroom = 32 << 20

func apiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Serve the API, the panel and the tracking page",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), "despacho-api", func(ctx context.Context, a *app.App) error {
				listener, err := dev.Listen(a.Config.HTTPAddr, "HTTP_ADDR")
				if err != nil {
					return err
				}
				debug.FreeOSMemory() // what the start has left behind
				headroom := make([]byte, gcHeadroom)
				defer runtime.KeepAlive(headroom)
				return a.ServeAPI(ctx, listener)
			})
		},
	}
}

func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run the orders' workflows and activities",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), "despacho-worker", func(ctx context.Context, a *app.App) error { return a.RunWorker(ctx, nil) })
		},
	}
}

// serve runs a process that lives until it is told to stop, with metrics and traces beside it.
func serve(ctx context.Context, name string, run func(context.Context, *app.App) error) error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	log := cfg.Logger(os.Stderr)
	slog.SetDefault(log)
	endTracing, err := telemetry.StartTracing(ctx, name, version(), cfg.OTLPEndpoint, log)
	if err != nil {
		return err
	}
	defer func() { _ = endTracing(context.WithoutCancel(ctx)) }()
	a, err := app.Open(ctx, cfg, log, app.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	// When one part fails the other stops too.
	group, ctx := errgroup.WithContext(ctx)
	if cfg.AdminAddr != "" {
		admin, err := dev.Listen(cfg.AdminAddr, "ADMIN_ADDR")
		if err != nil {
			return err
		}
		group.Go(func() error { return a.ServeAdmin(ctx, admin) })
	}
	group.Go(func() error { return run(ctx, a) })
	return group.Wait()
}
