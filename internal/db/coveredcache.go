package db

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// CoveredCache caches the locations that operators cover: anybody may ask for them without a limit,
// and the coverage of all operators is many rows. What it returns is exact.
type CoveredCache struct {
	db *DB

	mu        sync.Mutex
	version   coverageVersion
	byCountry map[string][]uuid.UUID
}

// coverageVersion changes whenever an operator or what one covers does: no operator is deleted, and
// settings versions only grow. Suspended operators are counted because whoever suspends one by
// hand, or with an earlier release, leaves its settings version as it was.
type coverageVersion struct{ Operators, Suspended, Settings int64 }

// NewCoveredCache returns a cache that reads on first use.
func NewCoveredCache(database *DB) *CoveredCache { return &CoveredCache{db: database} }

// Locations lists the locations in a country that operators cover, without suspended operators.
func (c *CoveredCache) Locations(ctx context.Context, countryCode string) ([]uuid.UUID, error) {
	// The version is read first: rows that are newer than it are read again the next time.
	version, err := c.db.coverageVersion(ctx)
	if err != nil {
		return nil, err
	}
	if covered, known := c.lookup(version, countryCode); known {
		return covered, nil
	}
	covered, err := c.db.coveredLocations(ctx, countryCode)
	if err != nil {
		return nil, err
	}
	c.store(version, countryCode, covered)
	return covered, nil
}

func (c *CoveredCache) lookup(version coverageVersion, countryCode string) (covered []uuid.UUID, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != c.version {
		return nil, false
	}
	covered, known = c.byCountry[countryCode]
	return covered, known
}

func (c *CoveredCache) store(version coverageVersion, countryCode string, covered []uuid.UUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != c.version || c.byCountry == nil {
		c.version, c.byCountry = version, map[string][]uuid.UUID{}
	}
	c.byCountry[countryCode] = covered
}

func (d *DB) coverageVersion(ctx context.Context) (version coverageVersion, err error) {
	err = d.with(ctx).Raw(`SELECT COUNT(*) AS operators, COUNT(suspended_at) AS suspended,
		CAST(COALESCE(SUM(settings_version), 0) AS BIGINT) AS settings FROM operators`).Scan(&version).Error
	return version, err
}
