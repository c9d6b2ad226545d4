package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"despacho/internal/app"
	"despacho/internal/config"
	"despacho/internal/telemetry"
	"despacho/worker"
)

func apiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Serve the API, the panel and the tracking page",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), "despacho-api", app.Options{}, func(ctx context.Context, a *app.App) error {
				listener, err := config.Listen(a.Config.HTTPAddr, "HTTP_ADDR")
				if err != nil {
					return err
				}
				return a.ServeAPI(ctx, listener)
			})
		},
	}
}

func workerCommand() *cobra.Command {
	options := app.Options{BuildID: buildID()}
	command := &cobra.Command{
		Use:   "worker",
		Short: "Run the orders' workflows and activities",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]worker.Part{"", worker.PartOrders, worker.PartOut}, options.WorkerOnly) {
				return fmt.Errorf("--only must be %s or %s, not %q", worker.PartOrders, worker.PartOut, options.WorkerOnly)
			}
			return serve(cmd.Context(), "despacho-worker", options,
				func(ctx context.Context, a *app.App) error { return a.RunWorker(ctx, nil) })
		},
	}
	command.Flags().StringVar((*string)(&options.WorkerOnly), "only", "",
		"serve one part: orders, or out for webhooks, map links and identity checks (default both)")
	return command
}

// serve runs a process until it is told to stop, with its metrics and traces.
func serve(ctx context.Context, name string, options app.Options, run func(context.Context, *app.App) error) error {
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
	a, err := app.Open(ctx, cfg, log, options)
	if err != nil {
		return err
	}
	defer a.Close()
	if cfg.DerivesBaseURL() {
		log.Warn("BASE_URL is not set: links and the addresses of photos work on this machine at most; api and worker need the same",
			"base_url", cfg.BaseURL)
	}
	// When one of them fails the other stops too.
	group, ctx := errgroup.WithContext(ctx)
	if cfg.AdminAddr != "" {
		admin, err := config.Listen(cfg.AdminAddr, "ADMIN_ADDR")
		if err != nil {
			return err
		}
		group.Go(func() error { return a.ServeAdmin(ctx, admin) })
	}
	group.Go(func() error { return run(ctx, a) })
	return group.Wait()
}
