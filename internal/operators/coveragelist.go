package operators

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// MaxCoverageRows is the largest number of rows in one list; the catalog of a country has fewer.
const MaxCoverageRows = 5000

// CoverageRow is a location and its price, nil for the base price.
type CoverageRow struct {
	LocationID uuid.UUID
	Price      *money.Cents
}

// CoverageList is what an operator's coverage is to be.
type CoverageList struct {
	Rows []CoverageRow
	// RemoveOthers removes the locations of the coverage that Rows does not have.
	RemoveOthers bool
}

// CoverageChange is the difference between a list and an operator's coverage.
type CoverageChange struct {
	Added, Changed, Removed []models.Coverage
	Unchanged               int
}

// Any reports whether anything changes.
func (c *CoverageChange) Any() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) > 0 }

// ApplyCoverage applies a list in one transaction. check looks at the coverage while it is locked,
// and refuses the change by an error; nil accepts every one.
func (s *Service) ApplyCoverage(
	ctx context.Context, operator *models.Operator, list CoverageList, check func([]models.Coverage) error,
) (*CoverageChange, error) {
	var made *CoverageChange
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		covered, err := listOwned[models.Coverage](ctx, tx, operator.ID)
		if err != nil {
			return err
		}
		if err := checkLocked(check, covered); err != nil {
			return err
		}
		inTx := *s
		inTx.db = tx
		if made, err = inTx.CompareCoverage(ctx, operator, covered, list); err != nil {
			return err
		}
		if !made.Any() {
			return nil
		}
		if err := made.save(ctx, tx); err != nil {
			return err
		}
		counts := fmt.Sprintf("added %d, changed %d, removed %d", len(made.Added), len(made.Changed), len(made.Removed))
		return s.audit(ctx, tx, operator.ID, models.AuditCoverageReplaced, nil, counts)
	})
	return made, err
}

// coverageBatch is the number of rows in one statement: SQLite slows down with longer statements.
const coverageBatch = 500

// save inserts the new rows, updates the prices of existing ones and deletes the others.
func (c *CoverageChange) save(ctx context.Context, tx *db.DB) error {
	prices := clause.OnConflict{Columns: []clause.Column{{Name: "id"}},
		DoUpdates: clause.AssignmentColumns([]string{"price_cents"})}
	if rows := slices.Concat(c.Added, c.Changed); len(rows) > 0 {
		if err := tx.Query(ctx).Clauses(prices).CreateInBatches(rows, coverageBatch).Error; err != nil {
			return err
		}
	}
	if len(c.Removed) == 0 {
		return nil
	}
	return tx.Query(ctx).Delete(&c.Removed).Error
}

// CompareCoverage returns the change that ApplyCoverage would make to a coverage.
func (s *Service) CompareCoverage(
	ctx context.Context, operator *models.Operator, covered []models.Coverage, list CoverageList,
) (*CoverageChange, error) {
	if err := checkCoverageRows(list.Rows); err != nil {
		return nil, err
	}
	change, now := &CoverageChange{}, s.clock.Now()
	left := make(map[uuid.UUID]models.Coverage, len(covered))
	for _, row := range covered {
		left[row.LocationID] = row
	}
	for _, row := range list.Rows {
		is, known := left[row.LocationID]
		delete(left, row.LocationID)
		switch {
		case !known:
			change.Added = append(change.Added, models.Coverage{
				ID: uuid.New(), OperatorID: operator.ID, LocationID: row.LocationID, Price: row.Price, CreatedAt: now,
			})
		case isSame(is.Price, row.Price):
			change.Unchanged++
		default:
			is.Price = row.Price
			change.Changed = append(change.Changed, is)
		}
	}
	if list.RemoveOthers {
		for _, row := range covered {
			if _, unnamed := left[row.LocationID]; unnamed {
				change.Removed = append(change.Removed, row)
			}
		}
	}
	return change, checkLocations(ctx, s.db, change.Added)
}

func checkCoverageRows(rows []CoverageRow) error {
	if len(rows) > MaxCoverageRows {
		return apperror.New(apperror.Invalid, "invalid_fields",
			fmt.Sprintf("La lista tiene más de %d lugares.", MaxCoverageRows))
	}
	named := make(map[uuid.UUID]bool, len(rows))
	for _, row := range rows {
		if named[row.LocationID] {
			return ErrCoveredTwice
		}
		named[row.LocationID] = true
	}
	return nil
}

// checkLocations checks that the catalog has every location.
func checkLocations(ctx context.Context, tx *db.DB, rows []models.Coverage) error {
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.LocationID
	}
	known, err := countLocations(ctx, tx, ids...)
	if err == nil && known < int64(len(ids)) {
		return apperror.New(apperror.Invalid, "invalid_fields", "La lista nombra un lugar que no está en el catálogo.")
	}
	return err
}

// isSame compares two values that may be missing.
func isSame[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
