package operators

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Owned is a row type that an operator manages in the panel.
type Owned interface {
	models.Audited
	models.Store | models.Rider | models.Branch | models.Size | models.Coverage | models.StorePrice | models.RiskZone |
		models.APIKey | models.User
}

// owned narrows a query to an operator's rows of a type. Riders of test orders are not among them:
// nobody manages those.
func owned[T Owned](query *gorm.DB, operatorID uuid.UUID) *gorm.DB {
	query = query.Where("operator_id = ?", operatorID)
	if _, riders := any(*new(T)).(models.Rider); riders {
		query = query.Where("NOT test")
	}
	return query
}

// listOwned reads all of an operator's rows of a type, oldest first.
func listOwned[T Owned](ctx context.Context, tx *db.DB, operatorID uuid.UUID) ([]T, error) {
	var rows []T
	err := owned[T](tx.Query(ctx), operatorID).Order("created_at, id").Find(&rows).Error
	return rows, err
}

// findOwned reads one row. It returns db.ErrNotFound for another operator's row.
func findOwned[T Owned](ctx context.Context, tx *db.DB, operatorID, id uuid.UUID) (*T, error) {
	var row T
	err := owned[T](tx.Query(ctx), operatorID).Where("id = ?", id).Take(&row).Error
	return &row, err
}

// Rows are an operator's rows of a type, which its people list, create and change.
type Rows[T Owned] struct {
	service *Service
	// order sorts the rows for display; nil is the order in which they were created.
	order func(a, b T) int
	// begin is a new row with what the request does not say.
	begin func(id uuid.UUID, operator *models.Operator, now time.Time) T
	patch patch[T]
	errs  rowErrors
}

// patch applies a request to a row, new or existing: a member is required if the row has no value
// yet, and ignored if the request omits it. It runs while the operator's settings are locked.
type patch[T Owned] func(ctx context.Context, tx *db.DB, operator *models.Operator, row *T, in *jsonbody.Object) error

// NotFound is the error for a row that the operator does not have.
func (r Rows[T]) NotFound() error { return r.errs.notFound }

// List reads all of an operator's rows, also inactive ones, sorted for display.
func (r Rows[T]) List(ctx context.Context, operator *models.Operator) ([]T, error) {
	rows, err := listOwned[T](ctx, r.service.db, operator.ID)
	if r.order != nil {
		slices.SortStableFunc(rows, r.order)
	}
	return rows, err
}

// Create inserts a row.
func (r Rows[T]) Create(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*T, error) {
	row := r.begin(uuid.New(), operator, r.service.clock.Now())
	err := r.service.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		if err := r.patch(ctx, tx, operator, &row, in); err != nil {
			return err
		}
		if err := tx.Insert(ctx, &row); err != nil {
			return err
		}
		return r.service.auditRow(ctx, tx, row, models.AuditCreated, nil)
	})
	return &row, r.errs.replace(err)
}

// Change changes a row. check looks at the row that is to be changed while it is locked, and
// refuses the change by an error; nil accepts every row.
func (r Rows[T]) Change(
	ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*T) error,
) (*T, error) {
	row := new(T)
	err := r.service.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		// Orders may still refer to the row.
		if err := owned[T](tx.QueryForNoKeyUpdate(ctx), operator.ID).Where("id = ?", id).Take(row).Error; err != nil {
			return err
		}
		if err := checkLocked(check, row); err != nil {
			return err
		}
		before := *row
		if err := r.patch(ctx, tx, operator, row, in); err != nil {
			return err
		}
		if err := db.RequireOneRow(tx.Query(ctx).Model(row).Select("*").Updates(row)); err != nil {
			return err
		}
		return r.service.auditRow(ctx, tx, *row, models.AuditChanged, db.ChangedColumns(&before, row))
	})
	return row, r.errs.replace(err)
}

// rowErrors are what the database's errors about a row become. A nil one leaves the error as it is.
type rowErrors struct{ notFound, taken error }

func (e rowErrors) replace(err error) error {
	switch {
	case e.notFound != nil && db.IsNotFound(err):
		return e.notFound
	case e.taken != nil && db.IsDuplicate(err):
		return e.taken
	}
	return err
}

// checkLocked has what is to be changed checked, if there is a check.
func checkLocked[T any](check func(T) error, locked T) error {
	if check == nil {
		return nil
	}
	return check(locked)
}

// keepOneMarked keeps exactly one of the operator's rows marked, as its main branch and its default
// size are: marking one clears the other, and the marked row can be neither cleared nor
// deactivated.
func keepOneMarked(wasMarked, marked, active bool, required error, unmark func() error) error {
	switch {
	case wasMarked && !marked, marked && !active:
		return required
	case marked && !wasMarked:
		return unmark()
	}
	return nil
}
