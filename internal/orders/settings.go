package orders

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// settings indexes an operator's settings for creating and moving orders.
type settings struct {
	basePrice  *money.Cents
	branches   map[uuid.UUID]models.Branch
	mainBranch *models.Branch
	stores     map[uuid.UUID]models.Store
	// sizes are those that are offered, inactiveSizes those that only orders made before have.
	sizes         map[string]models.Size
	inactiveSizes map[string]models.Size
	defaultSize   *models.Size
	prices        map[uuid.UUID]*money.Cents
	riskZones     []models.RiskZone
	webhooks      []models.Webhook
	// riders are those who may get orders.
	riders map[uuid.UUID]bool
}

func newSettings(rows *settingsRows) *settings {
	s := &settings{
		basePrice:     rows.BasePrice,
		branches:      map[uuid.UUID]models.Branch{},
		stores:        map[uuid.UUID]models.Store{},
		sizes:         map[string]models.Size{},
		inactiveSizes: map[string]models.Size{},
		prices:        map[uuid.UUID]*money.Cents{},
		riskZones:     rows.RiskZones,
		webhooks:      rows.Webhooks,
		riders:        map[uuid.UUID]bool{},
	}
	for _, branch := range rows.Branches {
		if !branch.Active {
			continue
		}
		s.branches[branch.ID] = branch
		if branch.Main {
			s.mainBranch = &branch
		}
	}
	for _, store := range rows.Stores {
		s.stores[store.ID] = store
	}
	for _, size := range rows.Sizes {
		if !size.Active {
			s.inactiveSizes[size.Code] = size
			continue
		}
		s.sizes[size.Code] = size
		if size.IsDefault {
			s.defaultSize = &size
		}
	}
	for _, covered := range rows.Coverage {
		s.prices[covered.LocationID] = covered.Price
	}
	for _, rider := range rows.Riders {
		s.riders[rider.ID] = true
	}
	return s
}

// subscribed lists the webhooks that receive an event of an order.
func subscribed(webhooks []models.Webhook, event models.Event, order *models.Order) []models.Webhook {
	return slices.DeleteFunc(slices.Clone(webhooks),
		func(w models.Webhook) bool { return !w.SubscribesTo(event, order.StoreID, order.Test) })
}

// settingsCache caches operators' settings by version. The version comes with every authenticated
// request, so no request uses settings that were changed before it. A request whose body arrives
// after a change gets the settings of now, all of them: the base price of its operator is that of
// the moment when it began.
type settingsCache struct {
	db *db.DB

	mu      sync.Mutex
	entries map[uuid.UUID]settingsEntry
}

type settingsEntry struct {
	version  int64
	settings *settings
}

// maxCachedOperators bounds the memory; beyond it the whole cache is cleared.
const maxCachedOperators = 5000

func newSettingsCache(database *db.DB) *settingsCache {
	return &settingsCache{db: database, entries: map[uuid.UUID]settingsEntry{}}
}

func (c *settingsCache) get(ctx context.Context, operator *models.Operator) (*settings, error) {
	c.mu.Lock()
	entry, ok := c.entries[operator.ID]
	c.mu.Unlock()
	if ok && entry.version == operator.SettingsVersion {
		return entry.settings, nil
	}
	rows, err := readSettings(ctx, c.db, operator.ID)
	if err != nil {
		return nil, err
	}
	fresh := newSettings(rows)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= maxCachedOperators {
		clear(c.entries)
	}
	c.entries[operator.ID] = settingsEntry{version: rows.Version, settings: fresh}
	return fresh, nil
}

func (s *settings) storeName(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return s.stores[*id].Name
}
