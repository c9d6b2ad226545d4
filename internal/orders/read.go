package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// Get is Find, as the caller sees the order.
func (s *Service) Get(ctx context.Context, caller Caller, id uuid.UUID) (*View, error) {
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	return s.View(caller, order), nil
}

// View is an order as the caller sees it.
func (s *Service) View(caller Caller, order *models.OrderView) *View {
	return s.view(order, caller.seesProofLocation())
}

// Find reads one order. It returns ErrOrderNotFound if the caller may not see it.
func (s *Service) Find(ctx context.Context, caller Caller, id uuid.UUID) (*models.OrderView, error) {
	order, err := s.db.OrderView(ctx, caller.Scope(), id)
	if db.IsNotFound(err) {
		return nil, ErrOrderNotFound
	}
	return order, err
}

// MaxPageSize is the largest page size; a larger limit is reduced to it.
const MaxPageSize = 200

// Query selects orders. From and To are days in the operator's time zone, both included.
type Query struct {
	Status   models.Status
	From, To *time.Time
	// ByDelivery means that the days are those of the delivery, not of the creation.
	ByDelivery  bool
	Page, Limit int
	// WithoutPoint selects open orders that have no point.
	WithoutPoint bool
	// Expiring selects registered orders that cancel themselves within ExpiringWithin.
	Expiring bool
	// OutSinceYesterday selects orders that a rider got before today and has not delivered.
	OutSinceYesterday bool
	// Substatuses selects orders with one of them, DueBy those whose next attempt is planned for
	// then or before, and NotLoaded those whose rider has a phone and has not confirmed to have the
	// package.
	Substatuses []models.Substatus
	DueBy       *time.Time
	NotLoaded   bool
	// Assignable leaves out the orders that HeldBack says do not go out today.
	Assignable bool
	// AmountDiffers selects orders for which another amount was collected than was agreed.
	AmountDiffers bool
	// IDs, unless it is nil, selects the orders of these ids.
	IDs []uuid.UUID
	// Search matches guide code, external id, recipient, phone and address.
	Search string
	// ExternalID selects the orders with exactly this number of the store's own.
	ExternalID       string
	StoreID, RiderID *uuid.UUID
	// LocationID selects orders to exactly this location.
	LocationID *uuid.UUID
	// LocationIDs, unless it is nil, selects the orders to any of these locations.
	LocationIDs []uuid.UUID
	// Sort is for ListWithCounts alone.
	Sort Sort
}

// Page is one page of a list, newest first.
type Page struct {
	Orders []*View `json:"orders"`
	Total  int64   `json:"total"`
	Page   int     `json:"page"`
	Limit  int     `json:"limit"`
}

// List reads a page of the orders that the caller may see.
func (s *Service) List(ctx context.Context, caller Caller, query Query) (*Page, error) {
	counted, err := s.ListWithCounts(ctx, caller, query)
	if err != nil {
		return nil, err
	}
	return counted.Page, nil
}
