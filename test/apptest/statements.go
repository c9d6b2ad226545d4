package apptest

import (
	"errors"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"

	"despacho/internal/requestid"
)

// statementCount counts the statements that are sent to the database for each request.
type statementCount struct {
	// byRequest holds an *atomic.Int64 for each request id.
	byRequest sync.Map
}

// Statements is how many statements the request with this X-Request-Id cost so far.
func (s *Service) Statements(requestID string) int64 { return s.statements.of(requestID).Load() }

// Name identifies the plugin to GORM.
func (*statementCount) Name() string { return "apptest:statement_count" }

// Initialize has every kind of statement counted.
func (c *statementCount) Initialize(database *gorm.DB) error {
	on := database.Callback()
	return errors.Join(
		on.Create().Register(c.Name(), c.count), on.Query().Register(c.Name(), c.count), on.Update().Register(c.Name(), c.count),
		on.Delete().Register(c.Name(), c.count), on.Row().Register(c.Name(), c.count), on.Raw().Register(c.Name(), c.count),
	)
}

// A part of another statement is built without being sent.
func (c *statementCount) count(statement *gorm.DB) {
	if statement.DryRun {
		return
	}
	if id := requestid.From(statement.Statement.Context); id != "" {
		c.of(id).Add(1)
	}
}

func (c *statementCount) of(requestID string) *atomic.Int64 {
	counter, _ := c.byRequest.LoadOrStore(requestID, &atomic.Int64{})
	return counter.(*atomic.Int64)
}
