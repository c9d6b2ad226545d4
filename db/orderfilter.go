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
	// Words must all be found in the order's search text.
	Words []string
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
	for _, word := range f.Words {
		query = query.Where("orders.search_text LIKE ? ESCAPE '!'", "%"+likeEscape.Replace(word)+"%")
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

var likeEscape = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
