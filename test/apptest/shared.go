package apptest

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"despacho/internal/catalog"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

var shared = struct {
	sync.Mutex
	services map[string]*Service
	tbs      []*packageTB
}{services: map[string]*Service{}}

// Main runs a package's tests on databases that have the catalog and the schema of a later release,
// ends what they shared, and fails if anything confidential was logged on the way.
func Main(m *testing.M, ends ...func()) {
	testenv.Prepare = func(ctx context.Context, database *db.DB) error {
		if err := dbtest.ExpandSchema(ctx, database, dbtest.LaterVersion); err != nil {
			return err
		}
		return loadCatalog(ctx, database)
	}
	credentials.Cost = bcrypt.MinCost // a test that signs in is not about how hard the hash is
	testenv.Main(m, func() error {
		for _, tb := range shared.tbs {
			tb.end()
		}
		for _, end := range ends {
			end()
		}
		return logs.leaked()
	})
}

func loadCatalog(ctx context.Context, database *db.DB) error {
	countries, places := catalog.Embedded()
	return database.LoadCatalog(ctx, countries, append(places, catalog.DemoZones()...))
}

// EachDatabase runs a test against a service on SQLite and one on PostgreSQL. The services are
// shared by the tests of a package: each test makes operators of its own.
func EachDatabase(t *testing.T, run func(t *testing.T, s *Service)) {
	t.Parallel()
	each(t, "running clock", Options{}, run)
}

// OnPostgres runs a test against the service of EachDatabase on PostgreSQL alone, for what a
// database makes no difference to.
func OnPostgres(t *testing.T, run func(t *testing.T, s *Service)) {
	t.Parallel()
	warnings.showIfFailed(t)
	run(t, sharedOn(t, "running clock on postgres", testenv.Postgres, Options{}))
}

// EachOwn is EachDatabase with the test's own services, for what the requests of other tests would
// disturb: on PostgreSQL concurrent lookups share a statement, which counts for one of them.
func EachOwn(t *testing.T, options Options, run func(t *testing.T, s *Service)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		warnings.showIfFailed(t)
		run(t, Boot(t, databaseURL, options))
	})
}

// FrozenAt is the time of EachFrozenClock's services: half a minute before the next clock
// minute.
var FrozenAt = time.Date(2026, time.March, 10, 15, 0, 30, 0, time.UTC)

// EachFrozenClock is EachDatabase for tests of the API's responses. The clock stands still, so that
// counts per minute are exact; there is no worker, so that a move that reaches the order's workflow
// is answered 503 after a second; webhooks may only go to public addresses; and X-Forwarded-For is
// trusted, so that a test can have its own client address.
func EachFrozenClock(t *testing.T, run func(t *testing.T, s *Service)) {
	t.Parallel()
	each(t, "frozen clock", Options{
		Clock: clock.NewManual(FrozenAt), NoWorker: true,
		Configure: func(c *config.Config) {
			c.WebhookAllowNets, c.TrustedProxies = nil, []string{"127.0.0.1"}
			c.Timeouts.Move = time.Second
		},
	}, run)
}

func each(t *testing.T, kind string, options Options, run func(t *testing.T, s *Service)) {
	for name, open := range map[string]func(testing.TB) string{"sqlite": testenv.SQLite, "postgres": testenv.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warnings.showIfFailed(t)
			run(t, sharedOn(t, kind+" on "+name, open, options))
		})
	}
}

func sharedOn(t *testing.T, name string, open func(testing.TB) string, options Options) *Service {
	shared.Lock()
	defer shared.Unlock()
	if s := shared.services[name]; s != nil {
		return s
	}
	tb := &packageTB{TB: t}
	shared.tbs = append(shared.tbs, tb)
	shared.services[name] = Boot(tb, open(tb), options)
	return shared.services[name]
}

// packageTB replaces the testing.TB of the first test: its cleanups run at the end of the package.
type packageTB struct {
	testing.TB
	cleanups []func()
}

// Cleanup runs at the end of the package.
func (p *packageTB) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// Context does not end with the first test.
func (p *packageTB) Context() context.Context { return context.Background() }

// TempDir is removed at the end of the package.
func (p *packageTB) TempDir() string {
	dir, err := os.MkdirTemp("", "despacho-apptest-")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (p *packageTB) end() {
	for i := len(p.cleanups) - 1; i >= 0; i-- {
		p.cleanups[i]()
	}
}
