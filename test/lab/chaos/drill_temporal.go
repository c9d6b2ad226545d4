package chaos

import (
	"context"
	"errors"
	"time"

	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// temporalPath is how an installation with Temporal 1.29 gets to the version of docker-compose.yml:
// one minor version after the other, as docs/operations.md says. 1.31.4, which it names, cannot be
// compiled from Go modules; the schema of 1.31.2 has the same version.
var temporalPath = []string{"v1.29.1", "v1.30.7", "v1.31.2", dev.TemporalServerVersion}

// upgradedAutoCancel is short, so that timers set on one version fire on the next ones.
const upgradedAutoCancel = 30 * time.Second

// upgradeTemporal starts the service on the first version of temporalPath and replaces Temporal by
// each of the others under load. Orders that were left with a rider on any version are delivered on
// the last one.
func upgradeTemporal(ctx context.Context, base *stack, _ string) (err error) {
	base.options.AutoCancelAfter = upgradedAutoCancel
	site := &postgresInstallation{stack: base, generation: "original"}
	progress := func(line string) { base.options.logf("%s", line) }
	for _, version := range temporalPath { // compiled before there is load
		if _, err := dev.FindTemporalServer(ctx, base.options.BinDir, version, progress); err != nil {
			return err
		}
	}
	if err := base.StartPostgres(ctx, dev.PostgresOptions{Durable: true}); err != nil {
		return err
	}
	if err := site.startTemporal(ctx, temporalPath[0]); err != nil {
		return err
	}
	if err := site.prepareDatabase(ctx); err != nil {
		return err
	}
	if err := site.serve(ctx, nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.stop(ctx)) }()
	if err := base.registerWebhooks(ctx); err != nil {
		return err
	}
	clients := base.startLoad(ctx, firstClient)
	defer clients.stop()
	for _, version := range temporalPath[1:] {
		if err := cluster.Sleep(ctx, base.options.Duration); err != nil {
			return err
		}
		began := time.Now()
		if err := base.UpgradeTemporalServer(ctx, base.options.BinDir, version, progress); err != nil {
			return err
		}
		base.options.logf("Temporal %s runs on the same data after %s", version, time.Since(began).Round(10*time.Millisecond))
		base.report.count("upgrades of Temporal")
	}
	if err := cluster.Sleep(ctx, base.options.Duration); err != nil {
		return err
	}
	clients.finish()
	if err := base.deliverLeftOrders(ctx); err != nil {
		return err
	}
	return settleAndCheck(ctx, base)
}

// deliverLeftOrders delivers every order that is still with a rider.
func (s *stack) deliverLeftOrders(ctx context.Context) error {
	c := s.newClient(stream(s.options.Seed, planStream))
	defer c.close()
	for _, tracked := range s.ledger.acknowledged() {
		if !tracked.finished || tracked.last != models.StatusAssigned {
			continue
		}
		if _, err := c.move(ctx, tracked, models.MoveDeliver, ""); err != nil {
			return err
		}
		s.report.count("orders left with a rider, delivered at the end")
	}
	return nil
}
