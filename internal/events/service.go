// Package events holds the use cases of the event feed: its publication, and reading it.
package events

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/photourl"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

const (
	// MaxPageSize is the largest page.
	MaxPageSize = 200
	// MaxWait is how long a request may wait for events.
	MaxWait = 20 * time.Second
	// Latest is the cursor of a caller who wants only what happens from now on.
	Latest = "latest"
)

// ErrUnknownCursor means that no event with the cursor's id is kept that the caller may see.
var ErrUnknownCursor = &apperror.Error{
	Kind: apperror.Invalid, Code: "event_cursor_unknown",
	Message: "El evento de after no existe o ya no se conserva: los eventos se guardan 30 días. Empiece de nuevo sin after.",
	Fields:  []apperror.Field{{Field: "after", Message: "no es el id de un evento que se conserve"}},
}

// Service publishes and reads the feed.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	photoURLs *photourl.Signer
	log       *slog.Logger
	waiters   *waiters[int64]
	// changes are the requests that wait for changes of orders.
	changes *waiters[string]
}

// New makes a Service.
func New(database *db.DB, clock clock.Clock, photoURLs *photourl.Signer, log *slog.Logger) *Service {
	s := &Service{db: database, clock: clock, photoURLs: photoURLs, log: log}
	s.waiters = newWaiters(eventsInterval, false, log, func(ctx context.Context, sources []source) (map[source]int64, error) {
		return feedHeads(ctx, s.db, sources)
	})
	s.changes = newWaiters(changesInterval, true, log, func(ctx context.Context, sources []source) (map[source]string, error) {
		return orderHeads(ctx, s.db, sources)
	})
	return s
}

// Query is what a caller asks for.
type Query struct {
	// After is the id of the last event that the caller has, empty for the beginning, or Latest.
	After string
	Limit int
	// Events are those that the caller asks for.
	Events []models.Event
	// Wait is how long to wait for an event if there is none.
	Wait time.Duration
	// Recheck returns why the caller, who had access before the wait, has none any more.
	Recheck func() error
}

// Page is a part of the feed.
type Page struct {
	Events []Item `json:"events"`
	// Cursor is where the next page begins; nil if the caller has no event yet.
	Cursor *uuid.UUID `json:"cursor"`
	// More means that there may be more events already.
	More bool `json:"more"`
}

// Item is an event of the feed.
type Item struct {
	ID uuid.UUID `json:"id"`
	// Body is that of the event's webhook request, with the time of the event as its timestamp.
	Body json.RawMessage `json:"body"`
}

// Read reads the events that follow a cursor. If there is none it waits, without a database
// connection, until there is one or the time is over.
func (s *Service) Read(ctx context.Context, scope db.OrderScope, query Query) (*Page, error) {
	cursor, err := s.resolveCursor(ctx, scope, query.After)
	if err != nil {
		return nil, err
	}
	if query.Wait <= 0 {
		return s.page(ctx, scope, cursor, query)
	}
	// The wait begins before the first read, so that nothing published in between is missed.
	woken, unsubscribe := s.waiters.subscribe(sourceOf(scope))
	defer unsubscribe()
	over := time.NewTimer(query.Wait)
	defer over.Stop()
	for {
		page, err := s.page(ctx, scope, cursor, query)
		if err != nil || len(page.Events) > 0 {
			return page, err
		}
		select {
		case <-woken:
		case <-over.C:
			return page, nil
		case <-s.waiters.stopped:
			return page, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := query.Recheck(); err != nil {
			return nil, err
		}
	}
}

// StopWaiting makes every waiting request respond at once, and later ones not wait: the process is
// stopping.
func (s *Service) StopWaiting() {
	s.waiters.stop()
	s.changes.stop()
}

// resolveCursor finds the event of a cursor.
func (s *Service) resolveCursor(ctx context.Context, scope db.OrderScope, after string) (position, error) {
	switch after {
	case "":
		return position{}, nil
	case Latest:
		return s.latest(ctx, scope)
	}
	id, valid := jsonbody.ParseUUID(after)
	if !valid {
		return position{}, ErrUnknownCursor
	}
	cursor, err := positionOf(ctx, s.db, scope, id)
	if db.IsNotFound(err) {
		return cursor, ErrUnknownCursor
	}
	return cursor, err
}

// latest is the position of the last event that has happened. Events are published a moment after
// they happen. Those that are not published yet are published first: otherwise they would get a
// position after that of the cursor, and the caller would take them for later events.
func (s *Service) latest(ctx context.Context, scope db.OrderScope) (position, error) {
	if err := publishCommitted(ctx, s.db, publishBatch); err != nil {
		// The database may be unable to write, and still be read.
		s.log.WarnContext(ctx, "events not published; the latest may come again", "error", err)
	}
	return lastPosition(ctx, s.db, scope)
}

func (s *Service) page(ctx context.Context, scope db.OrderScope, after position, query Query) (*Page, error) {
	found, err := eventsAfter(ctx, s.db, scope, after.Position, query)
	if err != nil {
		return nil, err
	}
	page := &Page{Events: make([]Item, len(found)), More: len(found) == query.Limit}
	if after.ID != uuid.Nil {
		page.Cursor = &after.ID
	}
	now := s.clock.Now()
	for i := range found {
		if page.Events[i], err = s.item(&found[i], scope, now); err != nil {
			return nil, err
		}
		page.Cursor = &found[i].ID
	}
	return page, nil
}

// item renders an event as its webhook request does.
func (s *Service) item(event *models.FeedEvent, scope db.OrderScope, now time.Time) (Item, error) {
	role := models.RoleOperator
	if scope.StoreID != nil {
		role = models.RoleStore
	}
	data := s.photoURLs.SignEvent(event.DataFor(role), now)
	body, err := sender.Body(sender.Request{Event: string(event.Event), TenantID: event.OperatorID.String(), Test: event.Test,
		Data: json.RawMessage(data)}, event.CreatedAt)
	return Item{ID: event.ID, Body: body}, err
}
