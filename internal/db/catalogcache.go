package db

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/recovered"
)

// CatalogCache caches the catalog in memory: it changes rarely and every order needs it. It is
// refreshed in a goroutine of its own, so that a request that has a catalog does not depend on
// whether the database answers.
type CatalogCache struct {
	db *DB

	mu      sync.Mutex
	index   *catalog.Index
	size    int64
	checked time.Time
	// refresh is the refresh that is running; nil if there is none.
	refresh *catalogRefresh
}

// catalogRefresh reads the catalog again if it has changed. Its err is set when done is closed.
type catalogRefresh struct {
	done chan struct{}
	err  error
}

const (
	// catalogRefreshInterval is how long a zone added by another process may stay unseen.
	catalogRefreshInterval = 10 * time.Second
	// catalogWaitTimeout is how long a request that has a catalog waits for the refresh that it
	// started.
	catalogWaitTimeout = time.Second
	// catalogReadTimeout bounds reading the whole catalog.
	catalogReadTimeout = time.Minute
)

// NewCatalogCache returns a cache that reads the catalog on first use.
func NewCatalogCache(database *DB) *CatalogCache { return &CatalogCache{db: database} }

// Index returns the catalog, reading it again if the database has changed. The cached one is
// returned while the database cannot be read, or does not answer.
func (c *CatalogCache) Index(ctx context.Context) (*catalog.Index, error) {
	c.mu.Lock()
	index := c.index
	if index != nil && (c.refresh != nil || time.Since(c.checked) < catalogRefreshInterval) {
		c.mu.Unlock()
		return index, nil
	}
	refresh, _ := c.startRefresh(ctx)
	c.mu.Unlock()
	if index == nil {
		return c.wait(ctx, refresh)
	}
	waiting, cancel := context.WithTimeout(ctx, catalogWaitTimeout)
	defer cancel()
	if fresh, err := c.wait(waiting, refresh); err == nil {
		return fresh, nil
	}
	return index, nil
}

// startRefresh starts a refresh, or returns the one that is running. The caller holds the mutex.
// The refresh serves all callers, so it does not end with the request of the first.
func (c *CatalogCache) startRefresh(ctx context.Context) (refresh *catalogRefresh, started bool) {
	if c.refresh != nil {
		return c.refresh, false
	}
	refresh = &catalogRefresh{done: make(chan struct{})}
	c.refresh = refresh
	index, size := c.index, c.size
	go func() {
		defer close(refresh.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), catalogReadTimeout)
		defer cancel()
		began := time.Now()
		err := recovered.Call(ctx, c.db.log, func() (err error) {
			index, size, err = c.read(ctx, index, size)
			return err
		})
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refresh, refresh.err = nil, err; err == nil {
			c.index, c.size, c.checked = index, size, began
		}
	}()
	return refresh, true
}

// read returns the catalog of the database, which is the known one if that has as many locations.
func (c *CatalogCache) read(ctx context.Context, known *catalog.Index, knownSize int64) (*catalog.Index, int64, error) {
	size, err := c.db.CatalogSize(ctx)
	if err != nil || known != nil && size == knownSize {
		return known, size, err
	}
	countries, locations, err := c.db.Catalog(ctx)
	if err != nil {
		return nil, 0, err
	}
	return catalog.NewIndex(countries, locations), size, nil
}

// wait waits for a refresh and returns the catalog, or why there is none when ctx ends.
func (c *CatalogCache) wait(ctx context.Context, refresh *catalogRefresh) (*catalog.Index, error) {
	select {
	case <-refresh.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if refresh.err != nil {
		return nil, refresh.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.index, nil
}

// Destination is the location with its ancestors, nearest first; ok is false for an unknown one. An
// unknown id rereads the catalog, because the location may be new.
func (c *CatalogCache) Destination(ctx context.Context, id uuid.UUID) (places []catalog.Location, ok bool, err error) {
	index, err := c.Index(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, known := index.Location(id); !known {
		if index, err = c.reread(ctx); err != nil {
			return nil, false, err
		}
	}
	places = index.Ancestors(id)
	return places, len(places) > 0, nil
}

// reread returns the catalog as it is now. A refresh that was running may have read before the
// newest location was added, so that another one follows it.
func (c *CatalogCache) reread(ctx context.Context) (index *catalog.Index, err error) {
	for range 2 {
		c.mu.Lock()
		refresh, started := c.startRefresh(ctx)
		c.mu.Unlock()
		if index, err = c.wait(ctx, refresh); err != nil || started {
			return index, err
		}
	}
	return index, nil
}
