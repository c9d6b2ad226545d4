package db

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/catalog"
)

// CatalogCache keeps the catalog in memory: it changes rarely and is asked for with every order.
type CatalogCache struct {
	db *DB

	mu      sync.Mutex
	index   *catalog.Index
	size    int64
	checked time.Time
}

// catalogCheckEvery is how long a zone added by another process may go unnoticed.
const catalogCheckEvery = 10 * time.Second

// catalogReadTime bounds reading all of it.
const catalogReadTime = time.Minute

// NewCatalogCache returns a cache that reads the catalog when it is first asked for.
func NewCatalogCache(database *DB) *CatalogCache { return &CatalogCache{db: database} }

// Index is the catalog as the database has it.
func (c *CatalogCache) Index(ctx context.Context) (*catalog.Index, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != nil && time.Since(c.checked) < catalogCheckEvery {
		return c.index, nil
	}
	// Whoever asks first reads it for everybody, so it does not end with their request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), catalogReadTime)
	defer cancel()
	size, err := c.db.CatalogSize(ctx)
	if err != nil {
		if c.index != nil {
			return c.index, nil // an outage is no reason to forget the catalog
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

// Destination is the chain of places an order goes to, nearest first; ok is false for a place the
// catalog does not have. A place it does not know is looked up afresh once, because it may have
// been added a moment ago.
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
