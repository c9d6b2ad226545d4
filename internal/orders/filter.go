package orders

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/internal/db"
	"despacho/internal/textnorm"
	"despacho/models"
)

// orderFilter selects orders. From is included, Until excluded.
type orderFilter struct {
	Status models.Status
	// Times are creation times, or delivery times if ByDelivery is set.
	From, Until *time.Time
	ByDelivery  bool
	Page, Limit int
	// WithoutPoint selects open orders that have no point.
	WithoutPoint bool
	// ExpiringBefore selects registered orders that cancel themselves before then, AssignedBefore
	// orders with a rider who got them before then.
	ExpiringBefore, AssignedBefore *time.Time
	// Substatuses selects orders with one of them, DueBy those whose next attempt is planned for that
	// date or before, NotLoaded those that their rider, who has a phone, has not confirmed to have.
	Substatuses []models.Substatus
	DueBy       string
	NotLoaded   bool
	// AssignableOn, unless it is empty, is the date on which the orders can go out with a rider.
	AssignableOn string
	// AmountDiffers selects orders for which another amount was collected than was agreed.
	AmountDiffers    bool
	StoreID, RiderID *uuid.UUID
	LocationID       *uuid.UUID
	// LocationIDs, unless it is nil, selects the orders to any of these locations.
	LocationIDs []uuid.UUID
	// ExternalID is the store's own number of the orders.
	ExternalID string
	// GuideCode selects one order, IDs, unless it is nil, the orders of these ids.
	GuideCode string
	IDs       []uuid.UUID
	// Search is alternatives. The order must have all words of one of them.
	Search [][]searchWord
	Sort   Sort
}

// Sort is how a page of orders is sorted; the zero value is newest first.
type Sort struct {
	Column    SortColumn
	Ascending bool
}

// SortColumn is a column of the list of orders.
type SortColumn string

// The columns to sort by. An index has the orders by creation and by delivery; of the others the
// database sorts all that the filter selects.
const (
	SortByCreation  SortColumn = ""
	SortByDelivery  SortColumn = "delivery"
	SortByRecipient SortColumn = "recipient"
	SortByLocation  SortColumn = "location"
	SortByAmount    SortColumn = "amount"
)

// Indexed reports whether an index has the orders in this sequence.
func (s Sort) Indexed() bool { return s.Column == SortByCreation || s.Column == SortByDelivery }

// sortExpressions are the columns that no index has. The amount is the one that the list shows: of
// an open order what is to be collected, of another what was.
var sortExpressions = map[SortColumn]string{
	SortByRecipient: "LOWER(orders.recipient_name)",
	SortByLocation:  "LOWER(" + db.LocationName + ")",
	SortByAmount: "CASE WHEN orders.status IN ('registered', 'received', 'assigned') THEN orders.amount_to_collect_cents " +
		"ELSE COALESCE(orders.actual_amount_collected_cents, 0) END",
}

// apply sorts a list of orders. Orders that are not delivered are not in a list by delivery.
func (s Sort) apply(query *gorm.DB) *gorm.DB {
	direction := " DESC"
	if s.Ascending {
		direction = " ASC"
	}
	switch s.Column {
	case SortByCreation:
		return query.Order("orders.created_at" + direction + ", orders.id" + direction)
	case SortByDelivery:
		return query.Where("orders.delivered_at IS NOT NULL").Order("orders.delivered_at" + direction + ", orders.id" + direction)
	}
	return query.Order(sortExpressions[s.Column] + direction + ", orders.created_at DESC, orders.id DESC")
}

func (f orderFilter) withStatus(query *gorm.DB) *gorm.DB {
	if f.Status != "" {
		query = query.Where("orders.status = ?", f.Status)
	}
	return f.apply(query)
}

// apply adds every condition except the status.
func (f orderFilter) apply(query *gorm.DB) *gorm.DB {
	if f.WithoutPoint {
		query = query.Where("orders.delivery_lat IS NULL AND orders.status IN ?", models.OpenStatuses)
	}
	if f.ExpiringBefore != nil {
		query = query.Where("orders.status = ? AND orders.auto_cancel_at < ?", models.StatusRegistered, *f.ExpiringBefore)
	}
	if f.AssignedBefore != nil {
		query = query.Where("orders.status = ? AND orders.assigned_at < ?", models.StatusAssigned, *f.AssignedBefore)
	}
	if len(f.Substatuses) > 0 {
		query = query.Where("orders.substatus IN ?", f.Substatuses)
	}
	if f.AssignableOn != "" {
		query = query.Where(assignableOn, f.AssignableOn)
	}
	if f.DueBy != "" {
		query = query.Where("orders.next_attempt_on <= ?", f.DueBy)
	}
	if f.NotLoaded {
		query = query.Where("orders.status = ? AND orders.loaded_at IS NULL", models.StatusAssigned).Where(riderHasPhone)
	}
	if f.AmountDiffers {
		query = query.Where("orders.actual_amount_collected_cents <> orders.amount_to_collect_cents")
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
	if f.LocationIDs != nil {
		query = query.Where("orders.location_id IN ?", f.LocationIDs)
	}
	if f.ExternalID != "" {
		query = query.Where(externalIDCondition(f.ExternalID))
	}
	if f.GuideCode != "" {
		query = query.Where("orders.guide_code = ?", f.GuideCode)
	}
	if f.IDs != nil {
		query = query.Where("orders.id IN ?", f.IDs)
	}
	if condition, values := f.searchCondition(); condition != "" {
		query = query.Where(condition, values...)
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

// riderHasPhone selects orders whose rider can confirm to have them.
const riderHasPhone = "EXISTS (SELECT 1 FROM rider_devices WHERE rider_devices.rider_id = orders.rider_id " +
	"AND rider_devices.activated_at IS NOT NULL AND rider_devices.revoked_at IS NULL)"

// externalIDCondition looks for a store's number in each form that its letters may have. With one
// form, which nearly every number has, SQLite reads the index of the numbers only for an equality.
func externalIDCondition(number string) clause.Expression {
	forms := textnorm.Forms(number)
	if len(forms) == 1 {
		return clause.Expr{SQL: "orders.external_id = ?", Vars: []any{number}}
	}
	return clause.Expr{SQL: "orders.external_id IN ?", Vars: []any{forms}}
}

// searchCondition is empty without a search.
func (f orderFilter) searchCondition() (condition string, values []any) {
	alternatives := make([]string, len(f.Search))
	for i, words := range f.Search {
		found := make([]string, len(words))
		for j, word := range words {
			found[j] = "orders.search_text LIKE ? ESCAPE '!'"
			values = append(values, "%"+likeEscape.Replace(word.Text)+"%")
			if len(word.Riders) > 0 {
				found[j] = "(" + found[j] + " OR orders.rider_id IN ?)"
				values = append(values, word.Riders)
			}
		}
		alternatives[i] = strings.Join(found, " AND ")
	}
	return strings.Join(alternatives, " OR "), values
}

var likeEscape = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
