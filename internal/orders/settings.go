package orders

import (
	"context"
	"fmt"
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
	// storePrices are what stores pay instead, by location and by store; those of uuid.Nil are instead
	// of the base price.
	storePrices map[uuid.UUID]map[uuid.UUID][]models.StorePrice
	riskZones   []models.RiskZone
	webhooks    []models.Webhook
	// riders are those who may get orders.
	riders map[uuid.UUID]bool
}

// readSettings reads an operator's settings and their version, as they were at one moment: a price
// is made of several of them.
func readSettings(ctx context.Context, database *db.DB, operatorID uuid.UUID) (s *settings, version int64, err error) {
	var (
		operator *models.Operator
		branches []models.Branch
		stores   []models.Store
		sizes    []models.Size
		coverage []models.Coverage
		agreed   []models.StorePrice
		riders   []models.Rider
	)
	s = &settings{}
	err = database.InSnapshot(ctx, func(tx *db.DB) (err error) {
		if operator, err = tx.Operator(ctx, operatorID); err != nil {
			return err
		}
		for _, query := range []struct {
			into  any
			where string
		}{
			{&branches, "operator_id = ? AND active"},
			{&stores, "operator_id = ?"},
			{&sizes, "operator_id = ?"},
			{&coverage, "operator_id = ?"},
			{&agreed, "operator_id = ?"},
			{&s.riskZones, "operator_id = ? AND active"},
			{&s.webhooks, "operator_id = ? AND active"},
			{&riders, "operator_id = ? AND active AND NOT test"},
		} {
			if err := tx.Query(ctx).Where(query.where, operatorID).Order("created_at, id").Find(query.into).Error; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("reading the operator's settings: %w", err)
	}
	s.basePrice = operator.BasePrice
	s.branches, s.stores, s.riders = map[uuid.UUID]models.Branch{}, map[uuid.UUID]models.Store{}, map[uuid.UUID]bool{}
	for _, branch := range branches {
		s.branches[branch.ID] = branch
		if branch.Main {
			s.mainBranch = &branch
		}
	}
	for _, store := range stores {
		s.stores[store.ID] = store
	}
	s.setSizes(sizes)
	s.prices = map[uuid.UUID]*money.Cents{}
	for _, covered := range coverage {
		s.prices[covered.LocationID] = covered.Price
	}
	s.setStorePrices(agreed)
	for _, rider := range riders {
		s.riders[rider.ID] = true
	}
	return s, operator.SettingsVersion, nil
}

func (s *settings) setStorePrices(agreed []models.StorePrice) {
	s.storePrices = map[uuid.UUID]map[uuid.UUID][]models.StorePrice{}
	for _, price := range agreed {
		place := uuid.Nil
		if price.LocationID != nil {
			place = *price.LocationID
		}
		if s.storePrices[place] == nil {
			s.storePrices[place] = map[uuid.UUID][]models.StorePrice{}
		}
		s.storePrices[place][price.StoreID] = append(s.storePrices[place][price.StoreID], price)
	}
}

func (s *settings) setSizes(sizes []models.Size) {
	s.sizes, s.inactiveSizes = map[string]models.Size{}, map[string]models.Size{}
	for _, size := range sizes {
		if !size.Active {
			s.inactiveSizes[size.Code] = size
			continue
		}
		s.sizes[size.Code] = size
		if size.IsDefault {
			s.defaultSize = &size
		}
	}
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
	fresh, version, err := readSettings(ctx, c.db, operator.ID)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= maxCachedOperators {
		clear(c.entries)
	}
	c.entries[operator.ID] = settingsEntry{version: version, settings: fresh}
	return fresh, nil
}

func (s *settings) storeName(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return s.stores[*id].Name
}
