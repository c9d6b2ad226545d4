package db

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// OrderFilter filters orders. From is included, Until excluded.
type OrderFilter struct {
	Status models.Status
	// Times are creation times, or delivery times if ByDelivery is set.
	From, Until *time.Time
	ByDelivery  bool
	Page, Limit int
	// WithoutPoint selects open orders that have no point.
	WithoutPoint     bool
	StoreID, RiderID *uuid.UUID
	LocationID       *uuid.UUID
	// ExternalID is the store's own number of the orders.
	ExternalID string
	// Search is alternatives. The words of one of them must all be found in the order's search text.
	Search [][]string
}

func (f OrderFilter) withStatus(query *gorm.DB) *gorm.DB {
	if f.Status != "" {
		query = query.Where("orders.status = ?", f.Status)
	}
	return f.apply(query)
}

// apply adds every condition except the status.
func (f OrderFilter) apply(query *gorm.DB) *gorm.DB {
	if f.WithoutPoint {
		query = query.Where("orders.delivery_lat IS NULL AND orders.status IN ?", models.OpenStatuses)
	}
	if f.StoreID != nil {
		query = query.Where("orders.store_id = ?", *f.StoreID)
	}
	if f.RiderID != nil {
		query = query.Where("orders.rider_id = ?", *f.RiderID)
	}
	if f.LocationID != nil {
		query = query.Where("orders.location_id = ?", *f.LocationID)
	}
	if f.ExternalID != "" {
		query = query.Where("orders.external_id = ?", f.ExternalID)
	}
	if condition, patterns := f.searchCondition(); condition != "" {
		query = query.Where(condition, patterns...)
	}
	at := "orders.created_at"
	if f.ByDelivery {
		at = "orders.delivered_at"
	}
	if f.From != nil {
		query = query.Where(at+" >= ?", *f.From)
	}
	if f.Until != nil {
		query = query.Where(at+" < ?", *f.Until)
	}
	return query
}

// searchCondition is empty without a search.
func (f OrderFilter) searchCondition() (condition string, patterns []any) {
	alternatives := make([]string, len(f.Search))
	for i, words := range f.Search {
		found := make([]string, len(words))
		for j, word := range words {
			found[j] = "orders.search_text LIKE ? ESCAPE '!'"
			patterns = append(patterns, "%"+likeEscape.Replace(word)+"%")
		}
		alternatives[i] = strings.Join(found, " AND ")
	}
	return strings.Join(alternatives, " OR "), patterns
}

var likeEscape = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
