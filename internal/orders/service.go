// Package orders holds the use cases that the API and the panel share: creating, reading, listing
// and moving orders.
package orders

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/historycodec"
	"despacho/internal/maplink"
	"despacho/internal/photos"
	"despacho/internal/photourl"
	"despacho/internal/signing"
)

// Service implements the use cases for the API, the panel and the order activities.
type Service struct {
	db            *db.DB
	catalog       *db.CatalogCache
	settings      *settingsCache
	temporal      client.Client
	clock         clock.Clock
	log           *slog.Logger
	options       Options
	starter       *starter
	confirmations *startConfirmations
	locks         orderLocks

	movesRequested, movesUnconfirmed atomic.Int64
	workflowsReplaced                atomic.Int64

	// sweeping is held by a sweep of the photos; swept is the outcome of the latest one.
	sweeping sync.Mutex
	swept    atomic.Pointer[photos.Swept]

	// withoutAttributes logs once that search attributes are missing.
	withoutAttributes sync.Once
}

// Options configures the service.
type Options struct {
	TaskQueue       string
	AutoCancelAfter time.Duration
	IdempotencyTTL  time.Duration
	// StartTimeout, MoveTimeout, BulkMoveTimeout and FinishStarts are those of config.Timeouts.
	StartTimeout, MoveTimeout, BulkMoveTimeout, FinishStarts time.Duration
	// MoveDeadline is how long after its request a move may still be made: the requester waits for
	// MoveTimeout, hears that the outcome is not known, and looks.
	MoveDeadline time.Duration
	// WorkflowTaskTimeout is how long a worker has for one workflow task of an order.
	WorkflowTaskTimeout time.Duration
	// KeyLease is how long a request may hold an Idempotency-Key before another may claim it:
	// longer than the request timeout. A request that outlives its lease finds the key claimed and
	// creates nothing.
	KeyLease time.Duration
	// VerifiesIdentity means that a provider of Peruvian DNIs is configured.
	VerifiesIdentity bool
	// Photos stores delivery-proof photos; only the API and the panel save them.
	Photos photos.Store
	// PhotoQuarantine is how long a photo that no delivery refers to is kept before it is deleted; 0
	// keeps it.
	PhotoQuarantine time.Duration
	// HistoryCodec is what the Temporal clients encode payloads with.
	HistoryCodec *historycodec.Codec
	// UpdateIDSecret is the same in every process that moves orders: the ids of updates depend on it.
	UpdateIDSecret string
	// Secrets encrypts the numbers of recipients' documents.
	Secrets *encryption.Cipher
	// MapLinks reads map links and follows short ones.
	MapLinks *maplink.Resolver
	// PhotoURLs makes the addresses of delivery-proof photos.
	PhotoURLs *photourl.Signer
	// Signer signs the links of recipients, which lead to BaseURL.
	Signer  *signing.Signer
	BaseURL string
	// Namespace is the Temporal namespace of the orders' workflows.
	Namespace string
	// PayloadRetention is how long the data of a sent event is kept, PersonalDataRetention how long
	// the recipient's data of an ended order is; 0 keeps it.
	PayloadRetention, PersonalDataRetention time.Duration
}

// New returns the service. The Temporal client may be lazy: orders are accepted while Temporal is
// unavailable.
func New(
	database *db.DB, catalog *db.CatalogCache, temporal client.Client, clk clock.Clock, log *slog.Logger, options Options,
) *Service {
	s := &Service{
		db: database, catalog: catalog, settings: newSettingsCache(database), temporal: temporal,
		clock: clk, log: log, options: options,
		confirmations: &startConfirmations{db: database, clock: clk, log: log},
		locks:         orderLocks{moving: map[uuid.UUID]chan struct{}{}},
	}
	s.starter = newStarter(log, s.start)
	return s
}

// Close starts the workflows of the orders that were just created, as far as Temporal takes them in
// time, and writes the pending start confirmations.
func (s *Service) Close() {
	s.starter.close(s.options.FinishStarts)
	s.confirmations.close()
}

// StartBacklog is how far this process is behind with the workflows of created orders.
func (s *Service) StartBacklog() StartBacklog { return s.starter.backlog() }
