package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
)

// Get reads one order that the caller may see; another store's order does not exist for it.
func (s *Service) Get(ctx context.Context, caller Caller, id uuid.UUID) (*View, error) {
	order, err := s.find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	return s.view(order, caller.SeesProofLocation()), nil
}

func (s *Service) find(ctx context.Context, caller Caller, id uuid.UUID) (*models.OrderView, error) {
	order, err := s.db.OrderView(ctx, caller.Scope(), id)
	if db.IsNotFound(err) {
		return nil, ErrOrderNotFound
	}
	return order, err
}

// MaxPageSize is the most orders a page holds; a larger limit is served as this one.
const MaxPageSize = 200

// Query is what a list is asked for. Days are whole days in the operator's time zone, both
// included.
type Query struct {
	Status      models.Status
	From, To    *time.Time
	Page, Limit int
	// WithoutPoint keeps only orders whose point nobody knows yet and that are still to be
	// delivered.
	WithoutPoint bool
	// Search is what people type to find an order: guide code, recipient, phone or address.
	Search           string
	StoreID, RiderID *uuid.UUID
	// LocationID keeps only orders that go to this very place.
	LocationID *uuid.UUID
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
	filter := s.filter(caller, query)
	total, err := s.totals.count(ctx, caller.Scope(), filter)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.PageOfOrders(ctx, caller.Scope(), filter, total)
	if err != nil {
		return nil, err
	}
	return s.page(caller, query.Page, filter.Limit, rows, total), nil
}

// dayStart is the first instant of a day in a time zone. Where clocks change at midnight that is
// not always the one time.Date gives: midnight may be left out, or come twice.
func dayStart(day time.Time, zone *time.Location) time.Time {
	start := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	if start.Day() != day.Day() {
		_, start = start.ZoneBounds()
	} else if earlier := start.Add(-time.Hour); earlier.Day() == day.Day() {
		start = earlier
	}
	return start.UTC()
}
