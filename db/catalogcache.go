package db

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/recovered"
)

// CatalogCache caches the catalog in memory: it changes rarely and every order needs it. Whether it
// has changed is looked at beside the requests: a database that does not answer keeps nobody
// waiting who has a catalog.
type CatalogCache struct {
	db *DB

	mu      sync.Mutex
	index   *catalog.Index
	size    int64
	checked time.Time
	// look is the look at the database that is under way; nil if there is none.
	look *catalogLook
}

// catalogLook is a look at the database. Its err is set when done is closed.
type catalogLook struct {
	done chan struct{}
	err  error
}

const (
	// catalogCheckEvery is how long a zone added by another process may stay unseen.
	catalogCheckEvery = 10 * time.Second
	// catalogPatience is how long a request that has a catalog waits for the look that it began.
	catalogPatience = time.Second
	// catalogReadTime bounds reading the whole catalog.
	catalogReadTime = time.Minute
)

// NewCatalogCache returns a cache that reads the catalog on first use.
func NewCatalogCache(database *DB) *CatalogCache { return &CatalogCache{db: database} }

// Index returns the catalog, reading it again if the database has changed. The cached one is
// returned while the database cannot be read, or does not answer.
func (c *CatalogCache) Index(ctx context.Context) (*catalog.Index, error) {
	c.mu.Lock()
	index := c.index
	if index != nil && (c.look != nil || time.Since(c.checked) < catalogCheckEvery) {
		c.mu.Unlock()
		return index, nil
	}
	look, _ := c.beginLook(ctx)
	c.mu.Unlock()
	if index == nil {
		return c.after(ctx, look)
	}
	patient, cancel := context.WithTimeout(ctx, catalogPatience)
	defer cancel()
	if fresh, err := c.after(patient, look); err == nil {
		return fresh, nil
	}
	return index, nil
}

// beginLook begins a look, or returns the one that is under way. The caller holds the mutex. The
// look serves all callers, so it does not end with the request of the first.
func (c *CatalogCache) beginLook(ctx context.Context) (look *catalogLook, begun bool) {
	if c.look != nil {
		return c.look, false
	}
	look = &catalogLook{done: make(chan struct{})}
	c.look = look
	index, size := c.index, c.size
	go func() {
		defer close(look.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), catalogReadTime)
		defer cancel()
		began := time.Now()
		err := recovered.Call(ctx, c.db.log, func() (err error) {
			index, size, err = c.read(ctx, index, size)
			return err
		})
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.look, look.err = nil, err; err == nil {
			c.index, c.size, c.checked = index, size, began
		}
	}()
	return look, true
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

// after returns the catalog after a look, or why there was none before ctx ended.
func (c *CatalogCache) after(ctx context.Context, look *catalogLook) (*catalog.Index, error) {
	select {
	case <-look.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if look.err != nil {
		return nil, look.err
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

// reread returns the catalog as it is now. A look that was under way may have read before the
// newest location was added, so that another one follows it.
func (c *CatalogCache) reread(ctx context.Context) (index *catalog.Index, err error) {
	for range 2 {
		c.mu.Lock()
		look, begun := c.beginLook(ctx)
		c.mu.Unlock()
		if index, err = c.after(ctx, look); err != nil || begun {
			return index, err
		}
	}
	return index, nil
}
