package db

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/catalog"
)

// CatalogCache caches the catalog in memory: it changes rarely and every order needs it.
type CatalogCache struct {
	db *DB

	mu      sync.Mutex
	index   *catalog.Index
	size    int64
	checked time.Time
}

// catalogCheckEvery is how long a zone added by another process may stay unseen.
const catalogCheckEvery = 10 * time.Second

// catalogReadTime bounds reading the whole catalog.
const catalogReadTime = time.Minute

// NewCatalogCache returns a cache that reads the catalog on first use.
func NewCatalogCache(database *DB) *CatalogCache { return &CatalogCache{db: database} }

// Index returns the catalog, reading it again if the database has changed.
func (c *CatalogCache) Index(ctx context.Context) (*catalog.Index, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != nil && time.Since(c.checked) < catalogCheckEvery {
		return c.index, nil
	}
	// The read serves all callers, so it does not end with the request of the first.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), catalogReadTime)
	defer cancel()
	size, err := c.db.CatalogSize(ctx)
	if err != nil {
		if c.index != nil {
			return c.index, nil // serve the cached catalog during an outage
		}
		return nil, err
	}
	c.checked = time.Now()
	if c.index != nil && size == c.size {
		return c.index, nil
	}
	countries, locations, err := c.db.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	c.index, c.size = catalog.NewIndex(countries, locations), size
	return c.index, nil
}

// Destination is the location with its ancestors, nearest first; ok is false for an unknown one. An
// unknown id rereads the catalog once, because the location may be new.
func (c *CatalogCache) Destination(ctx context.Context, id uuid.UUID) (places []catalog.Location, ok bool, err error) {
	index, err := c.Index(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, known := index.Location(id); !known {
		c.mu.Lock()
		c.checked = time.Time{}
		c.mu.Unlock()
		if index, err = c.Index(ctx); err != nil {
			return nil, false, err
		}
	}
	places = index.Ancestors(id)
	return places, len(places) > 0, nil
}
