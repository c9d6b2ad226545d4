package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"despacho/internal/app"
	"despacho/internal/catalog"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/internal/dev/demo"
	"despacho/internal/dev/dniprovider"
	"despacho/internal/encryption"
	"despacho/internal/filelock"
	"despacho/internal/photos"
	"despacho/internal/riders"
	"despacho/internal/telemetry"
	"despacho/workflows"
)

func devCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine, with its own Temporal, a database file, demo data and a webhook inbox",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &devProcess{out: cmd.OutOrStdout()}
			defer d.close()
			err := d.run(cmd.Context())
			if cmd.Context().Err() != nil {
				fmt.Fprintln(d.out, "Stopped.")
				return nil
			}
			return err
		},
	}
}

// devProcess runs the whole service on one machine. It starts in the order of its fields and stops
// in reverse: API, worker, inbox, Temporal.
type devProcess struct {
	out     io.Writer
	config  *config.Config
	log     *slog.Logger
	certs   *dev.Certificates
	secrets *encryption.Cipher

	// api, admin and inbox are open from the start.
	api, admin, inbox net.Listener

	// temporal is nil when TEMPORAL_ADDRESS names an existing server.
	temporal        *dev.Temporal
	temporalOptions client.Options

	// closers are run in reverse order.
	closers []func()
}

func (d *devProcess) run(ctx context.Context) error {
	began := time.Now()
	if err := d.configure(); err != nil {
		return err
	}
	// Ports are opened before anything slow, so that a port in use is reported first. Those of
	// Temporal are only looked at: its server opens them.
	if err := d.listen(); err != nil {
		return err
	}
	endTracing, err := telemetry.StartTracing(ctx, "despacho-dev", version(), d.config.OTLPEndpoint, d.log)
	if err != nil {
		return err
	}
	d.onClose(func() { _ = endTracing(context.WithoutCancel(ctx)) })
	if err := d.startTemporal(ctx); err != nil {
		return err
	}
	if err := d.startIdentityProvider(ctx); err != nil {
		return err
	}
	if err := d.prepareDatabase(ctx); err != nil {
		return err
	}
	a, err := app.Open(ctx, d.config, d.log, app.Options{
		Temporal: &d.temporalOptions, WebhookCAFiles: []string{d.certs.CAFile},
		// The worker has no version: changed code goes on with the open orders at once.
	})
	if err != nil {
		return err
	}
	d.onClose(a.Close)
	document, err := d.seed(ctx, a.DB)
	if err != nil {
		return err
	}
	return d.serve(ctx, a, document, began)
}

// configure sets the defaults of a development machine.
func (d *devProcess) configure() error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	d.config, d.log = cfg, cfg.Logger(os.Stderr)
	cfg.DrainDelay = 0 // there is no load balancer
	slog.SetDefault(d.log)
	if err := os.MkdirAll(cfg.DevDir, 0o700); err != nil {
		return fmt.Errorf("DEV_DIR: %w", err)
	}
	if err := d.lockDirectory(); err != nil {
		return err
	}
	setDevPlaces(cfg)
	if _, given := os.LookupEnv("WEBHOOK_ALLOW_NETS"); !given {
		cfg.WebhookAllowNets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	// The inbox is allowed whatever WEBHOOK_ALLOW_NETS is.
	if inbox, err := netip.ParseAddrPort(cfg.DevInboxAddr); err == nil {
		cfg.WebhookAllowNets = append(cfg.WebhookAllowNets, netip.PrefixFrom(inbox.Addr(), inbox.Addr().BitLen()))
	}
	if cfg.SecretKey == "" {
		if cfg.SecretKey, err = devSecret(filepath.Join(cfg.DevDir, "secret.key")); err != nil {
			return err
		}
	}
	if d.secrets, err = encryption.New(cfg.SecretKey, cfg.SecretKeyOld...); err != nil {
		return err
	}
	d.certs, err = dev.LoadCertificates(filepath.Join(cfg.DevDir, "certs"))
	return err
}

// lockDirectory refuses a DEV_DIR that another dev works in: two Temporal servers on one file lose
// each other's writes.
func (d *devProcess) lockDirectory() error {
	release, err := filelock.Try(filepath.Join(d.config.DevDir, "dev.lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("another despacho dev works in %s: stop it, or set DEV_DIR to another directory", d.config.DevDir)
	}
	if err != nil {
		return fmt.Errorf("DEV_DIR: %w", err)
	}
	d.onClose(release)
	return nil
}

// setDevPlaces puts the database and the photos into DEV_DIR, unless they are given.
func setDevPlaces(cfg *config.Config) {
	if cfg.DatabaseURL == "" {
		cfg.DatabaseURL = "sqlite:" + filepath.Join(cfg.DevDir, dev.DatabaseFile)
	}
	if _, given := os.LookupEnv("FILES_DIR"); !given {
		cfg.FilesDir = filepath.Join(cfg.DevDir, dev.FilesDir)
	}
}

func (d *devProcess) listen() error {
	for _, port := range []struct {
		listener          *net.Listener
		address, variable string
	}{
		{&d.api, d.config.HTTPAddr, "HTTP_ADDR"},
		{&d.admin, adminAddress(d.config), "ADMIN_ADDR"},
		{&d.inbox, d.config.DevInboxAddr, "DEV_INBOX_ADDR"},
	} {
		listener, err := config.Listen(port.address, port.variable)
		if err != nil {
			return err
		}
		*port.listener = listener
		d.onClose(func() { _ = listener.Close() })
	}
	if _, port, _ := net.SplitHostPort(d.config.HTTPAddr); port == "0" {
		d.config.SetHTTPAddr(d.api.Addr().String())
	}
	if usesAnotherTemporal() {
		return nil
	}
	return d.temporalServer().CheckPorts()
}

// usesAnotherTemporal reports whether TEMPORAL_ADDRESS names a server, so that none is started.
func usesAnotherTemporal() bool { return os.Getenv("TEMPORAL_ADDRESS") != "" }

func (d *devProcess) temporalServer() dev.TemporalOptions {
	return dev.TemporalOptions{
		Port: d.config.DevTemporalPort, UIPort: d.config.DevTemporalPort + 1000, PortVariable: "DEV_TEMPORAL_PORT",
		DBFile: filepath.Join(d.config.DevDir, dev.TemporalFile), SearchAttributes: workflows.SearchAttributes(),
	}
}

// startTemporal runs Temporal's development server, unless TEMPORAL_ADDRESS is set. Namespace, TLS
// and key of the other TEMPORAL_* variables and of temporal.toml are those of another server.
func (d *devProcess) startTemporal(ctx context.Context) error {
	if usesAnotherTemporal() {
		var err error
		if d.temporalOptions, err = config.TemporalOptions(); err != nil {
			return err
		}
		d.printLine("Using the Temporal at %s.", d.temporalOptions.HostPort)
		return nil
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	options := d.temporalServer()
	if options.CLI, err = dev.FindTemporalDev(ctx, filepath.Dir(binary),
		func(line string) { d.printLine("%s", line) }); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(d.config.DevDir, dev.TemporalLog), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	d.onClose(func() { _ = log.Close() })
	options.Log = log
	server, err := dev.StartTemporal(ctx, options)
	if err != nil {
		return err
	}
	d.temporal = server
	d.onClose(func() { d.stopped("Temporal", server.Stop(context.WithoutCancel(ctx))) })
	d.temporalOptions = client.Options{HostPort: server.Address}
	if d.config.TemporalUIURL == "" {
		d.config.TemporalUIURL = server.UIURL
	}
	return nil
}

// startIdentityProvider serves invented people, unless DNI_PROVIDER is set.
func (d *devProcess) startIdentityProvider(ctx context.Context) error {
	if len(d.config.DNIProvider) > 0 {
		return nil
	}
	listener, err := config.Listen("127.0.0.1:0", "DNI_URL")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: dniprovider.Provider{}, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	d.onClose(func() { d.stopped("identity provider", server.Shutdown(context.WithoutCancel(ctx))) })
	d.config.DNIProvider, d.config.DNIURL = []string{"dev"}, []string{"http://" + listener.Addr().String()}
	return nil
}

func (d *devProcess) prepareDatabase(ctx context.Context) error {
	database, err := db.Open(ctx, d.config.DatabaseURL, db.Options{})
	if err != nil {
		return err
	}
	defer database.Close()
	if _, err := database.Migrate(ctx); err != nil {
		return err
	}
	countries, places := catalog.Embedded()
	return database.LoadCatalog(ctx, countries, append(places, catalog.DemoZones()...))
}

// seed writes the demo data and starts the inbox that its webhook calls.
func (d *devProcess) seed(ctx context.Context, database *db.DB) (*demo.Document, error) {
	file := filepath.Join(d.config.DevDir, "demo.json")
	earlier, err := demo.Read(file)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	logos, err := photos.NewStore(d.config.PhotoOptions())
	if err != nil {
		return nil, err
	}
	operators, err := demo.Seed(ctx, database, logos, earlier, now)
	if err != nil {
		return nil, err
	}
	linking := riders.New(riders.Options{DB: database, Clock: clock.System()})
	if err := demo.LinkRiders(ctx, linking, operators, d.config.BaseURL); err != nil {
		return nil, err
	}
	inbox := d.startInbox(ctx, database)
	if err := demo.RegisterInbox(ctx, database, d.secrets, inbox.HookURL, now); err != nil {
		return nil, err
	}
	document := &demo.Document{
		BaseURL: d.config.BaseURL, PanelURL: d.config.BaseURL + "/panel", DocsURL: d.config.BaseURL + "/docs",
		TemporalUIURL: d.config.TemporalUIURL,
		WebhookInbox:  demo.Inbox{URL: inbox.HookURL, EventsURL: inbox.EventsURL},
		Operators:     operators,
	}
	return document, document.Write(file)
}

func (d *devProcess) startInbox(ctx context.Context, database *db.DB) *dev.Inbox {
	var hookURL string
	inbox := dev.StartInbox(dev.InboxOptions{
		Listener: d.inbox, Certificate: d.certs.Server,
		Secrets: func() []string {
			secrets, err := demo.InboxSecrets(ctx, database, d.secrets, hookURL)
			if err != nil {
				d.log.Warn("inbox: signatures cannot be checked", "error", err)
			}
			return secrets
		},
	})
	hookURL = inbox.HookURL
	d.onClose(func() { d.stopped("inbox", inbox.Stop(context.WithoutCancel(ctx))) })
	return inbox
}

// serve runs the API and the worker and prints the banner. It stops the API first, then the worker.
func (d *devProcess) serve(ctx context.Context, a *app.App, document *demo.Document, began time.Time) error {
	group, failed := errgroup.WithContext(ctx)
	workerCtx, stopWorker := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorker()
	group.Go(func() error { return a.ServeAdmin(failed, d.admin) })
	group.Go(func() error { return d.watchTemporal(failed) })
	group.Go(func() error {
		defer stopWorker()
		return a.ServeAPI(failed, d.api)
	})
	group.Go(func() error {
		return a.RunWorker(workerCtx, func() {
			printBanner(d.out, document, "http://"+d.admin.Addr().String()+"/metrics", time.Since(began))
		})
	})
	return group.Wait()
}

// watchTemporal fails when the Temporal server that dev started exits: orders would be accepted and
// never move.
func (d *devProcess) watchTemporal(ctx context.Context) error {
	if d.temporal == nil {
		return nil
	}
	select {
	case <-d.temporal.Done():
		return fmt.Errorf("%w; the rest of its log is in %s", d.temporal.Err(), filepath.Join(d.config.DevDir, dev.TemporalLog))
	case <-ctx.Done():
		return nil
	}
}

func adminAddress(cfg *config.Config) string {
	if cfg.AdminAddr != "" {
		return cfg.AdminAddr
	}
	return "127.0.0.1:0"
}

func (d *devProcess) printLine(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d *devProcess) onClose(undo func()) { d.closers = append(d.closers, undo) }

func (d *devProcess) close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
}

func (d *devProcess) stopped(what string, err error) {
	if err != nil {
		d.log.Warn("not stopped cleanly", "what", what, "error", err)
	}
}
