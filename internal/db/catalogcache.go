package db

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
)

// CatalogCache is the catalog in memory, where every order needs it: what the binary has, and the
// zones that somebody has loaded into the database.
type CatalogCache struct {
	db *DB

	mu    sync.Mutex
	index *catalog.Index
	read  time.Time
}

const (
	// zonesMaxAge is how long zones that another process has loaded may stay unseen.
	zonesMaxAge = 30 * time.Second
	// zonesTimeout is how long a request that has a catalog waits for a newer one.
	zonesTimeout = time.Second
)

// NewCatalogCache returns a cache that reads the zones on first use.
func NewCatalogCache(database *DB) *CatalogCache { return &CatalogCache{db: database} }

// Index returns the catalog. The first request that finds it old reads the zones, while others go
// on with what is there, as all do when the database cannot be read.
func (c *CatalogCache) Index(ctx context.Context) (*catalog.Index, error) {
	c.mu.Lock()
	index, old := c.index, time.Since(c.read) >= zonesMaxAge
	if index != nil && old {
		c.read = time.Now()
	}
	c.mu.Unlock()
	if index == nil {
		return c.reread(ctx)
	}
	if old {
		ctx, cancel := context.WithTimeout(ctx, zonesTimeout)
		defer cancel()
		if fresh, err := c.reread(ctx); err == nil {
			return fresh, nil
		}
	}
	return index, nil
}

func (c *CatalogCache) reread(ctx context.Context) (*catalog.Index, error) {
	began := time.Now()
	zones, err := c.db.Zones(ctx)
	if err != nil {
		return nil, err
	}
	countries, locations := catalog.Embedded()
	index := catalog.NewIndex(countries, slices.Concat(locations, zones))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.index, c.read = index, began
	return index, nil
}

// Destination is the location with its ancestors, nearest first; ok is false for an unknown one. An
// unknown id may be of a zone that was just loaded: if the database knows it, the zones are read.
func (c *CatalogCache) Destination(ctx context.Context, id uuid.UUID) (places []catalog.Location, ok bool, err error) {
	index, err := c.Index(ctx)
	if err != nil {
		return nil, false, err
	}
	if _, known := index.Location(id); !known {
		if known, err = c.db.hasLocation(ctx, id); err != nil || !known {
			return nil, false, err
		}
		if index, err = c.reread(ctx); err != nil {
			return nil, false, err
		}
	}
	places = index.Ancestors(id)
	return places, len(places) > 0, nil
}
