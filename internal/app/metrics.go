package app

import (
	"context"
	"path/filepath"
	"strings"

	"despacho/api"
	"despacho/internal/telemetry"
)

// watchOrders exports how far this process is behind, and what waits in the database.
func (a *App) watchOrders() {
	m := a.Metrics
	m.Gauge("order_starts_waiting", "Created orders whose workflow this process has not started yet.",
		func() float64 { return float64(a.Orders.StartBacklog().Waiting) })
	m.Gauge("order_starts_oldest_seconds", "How long the first of them has waited.",
		func() float64 { return a.Orders.StartBacklog().Oldest.Seconds() })
	m.Counter("order_starts_failed_total", "Starts that this process has left to the reconcile workflow.",
		func() int64 { return a.Orders.StartBacklog().Failed })
	m.Counter("order_moves_total", "Moves that this process was asked for, by the API and the panel.",
		func() int64 { requested, _ := a.Orders.MoveCounts(); return requested })
	m.Counter("order_moves_unconfirmed_total", "Moves that were answered 503: their outcome was not known in time.",
		func() int64 { _, unconfirmed := a.Orders.MoveCounts(); return unconfirmed })
	m.Gauge("reconcile_schedule_paused", "1 if somebody has paused the schedule of the reconcile workflow.",
		func() float64 { return telemetry.OneIf(a.reconcilePaused.Load()) })
	m.Counter("order_workflows_replaced_total",
		"Workflows of orders that could not go on, which this process has ended and started again from the row.",
		a.Orders.WorkflowsReplaced)
	m.WatchBacklog(func(ctx context.Context) (telemetry.Backlog, error) { return a.DB.Backlog(ctx, a.clock.Now()) })
}

// watchAPI exports what an api writes to, and what it could not write.
func (a *App) watchAPI(server *api.Server) {
	m := a.Metrics
	m.Gauge("photos_in_quarantine", "Photos that no delivery refers to and that wait for their deletion.",
		func() float64 { return float64(a.Orders.PhotoSweep().InQuarantine) })
	m.Gauge("photos_unknown", "Photos outside of the quarantine that the database did not know in the latest sweep.",
		func() float64 { return float64(a.Orders.PhotoSweep().Unknown) })
	m.Gauge("photo_sweep_refused",
		"1 if the latest sweep moved and deleted no photo because the database did not know most of them.",
		func() float64 { return telemetry.OneIf(a.Orders.PhotoSweep().Refused) })
	m.Counter("database_disk_full_total",
		"Requests and readiness checks of this process that the database had no disk space for.",
		server.DiskFullErrors)
	m.Counter("photos_not_stored_total", "Requests and readiness checks of this process that could not store a photo.",
		server.PhotoErrors)
	disks := map[string]string{}
	if directory := a.photos.Directory(); directory != "" {
		disks["photos"] = directory
	}
	if path, ok := strings.CutPrefix(a.Config.DatabaseURL, "sqlite:"); ok {
		disks["database"] = filepath.Dir(path)
	}
	m.WatchDisks(disks)
}
