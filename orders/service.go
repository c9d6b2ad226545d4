// Package orders holds the use cases that the API and the panel share: creating, reading, listing
// and moving orders.
package orders

import (
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/internal/clock"
	"despacho/internal/photos"
)

// Service is what both edges call and what the order's workflow writes through.
type Service struct {
	db       *db.DB
	catalog  *db.CatalogCache
	settings *settingsCache
	temporal client.Client
	clock    clock.Clock
	log      *slog.Logger
	options  Options
	started  *startConfirmations
	totals   *totals
}

// Options are the parts of the configuration that decide about orders.
type Options struct {
	TaskQueue       string
	AutoCancelAfter time.Duration
	IdempotencyTTL  time.Duration
	// StartTimeout, MoveTimeout and BulkAssignTimeout are those of config.Timeouts.
	StartTimeout, MoveTimeout, BulkAssignTimeout time.Duration
	// WorkflowTaskTimeout is how long a worker has for one workflow task of an order.
	WorkflowTaskTimeout time.Duration
	// KeyLease is how long a request may hold an Idempotency-Key before another may suppose that it
	// died: longer than a request is worked on. One that outlives it, because its process stood
	// still, finds the key taken and creates nothing.
	KeyLease time.Duration
	// VerifyDNI says that there is somebody to ask about a Peruvian DNI.
	VerifyDNI bool
	// Photos keeps delivery-proof photos; only the edges save them.
	Photos photos.Store
	// FilesURL is where delivery-proof photos are served from.
	FilesURL string
}

// New wires the use cases. The Temporal client may be lazy: orders are accepted while Temporal is
// away.
func New(database *db.DB, catalog *db.CatalogCache, temporal client.Client, clk clock.Clock, log *slog.Logger, options Options) *Service {
	return &Service{
		db: database, catalog: catalog, settings: newSettingsCache(database), temporal: temporal,
		clock: clk, log: log, options: options,
		started: newStartConfirmations(database, clk, log),
		totals:  newTotals(database, clk),
	}
}

// Close writes what is still to be written.
func (s *Service) Close() { s.started.close() }
