package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
	"despacho/models"
)

// patch applies a request to a row, new or existing: a member is required if the row has no value
// yet, and ignored if the request omits it. It runs while the operator's settings are locked.
type patch[T db.Owned] func(tx *db.DB, row *T) error

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

// create inserts a row. taken is the error for one that must be unique and is not.
func create[T db.Owned](ctx context.Context, s *Service, operator *models.Operator, row *T, taken error, apply patch[T]) (*T, error) {
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		if err := apply(tx, row); err != nil {
			return err
		}
		if err := tx.Insert(ctx, row); err != nil {
			return err
		}
		return s.auditRow(ctx, tx, *row, models.AuditCreated, nil)
	})
	return row, rowErrors{taken: taken}.replace(err)
}

// change changes a row. check looks at the row that is to be changed while it is locked, and
// refuses the change by an error; nil accepts every row.
func change[T db.Owned](ctx context.Context, s *Service, operator *models.Operator, id uuid.UUID, check func(*T) error, errs rowErrors, apply patch[T]) (*T, error) {
	var row *T
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		var err error
		if row, err = db.LockOwned[T](ctx, tx, operator.ID, id); err != nil {
			return err
		}
		if err := checkLocked(check, row); err != nil {
			return err
		}
		before := *row
		if err := apply(tx, row); err != nil {
			return err
		}
		if err := db.SaveOwned(ctx, tx, row); err != nil {
			return err
		}
		return s.auditRow(ctx, tx, *row, models.AuditChanged, db.ChangedColumns(&before, row))
	})
	return row, errs.replace(err)
}

// checkLocked has what is to be changed checked, if there is a check.
func checkLocked[T any](check func(T) error, locked T) error {
	if check == nil {
		return nil
	}
	return check(locked)
}

// list reads all of an operator's rows of a type, sorted for display.
func list[T db.Owned](ctx context.Context, s *Service, operator *models.Operator, order func(a, b T) int) ([]T, error) {
	rows, err := db.ListOwned[T](ctx, s.db, operator.ID)
	slices.SortStableFunc(rows, order)
	return rows, err
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

// maxName is the largest length of a name, in characters.
const maxName = 200

func readName(in *jsonbody.Object, name *string) {
	if *name == "" || in.Has("name") {
		*name = in.RequiredText("name", maxName)
	}
}

// isSameName reports whether two names differ in case, accents, spaces and punctuation at most:
// people take them for one name. There is one operator of a name, and it has one store of a name.
// Of names without a letter or a digit only the case is ignored.
func isSameName(a, b string) bool {
	if folded := textnorm.String(a); folded != "" {
		return folded == textnorm.String(b)
	}
	return strings.EqualFold(a, b)
}

// checkName checks a name as readName does, for the command line.
func checkName(text string) (string, error) {
	name, err := jsonbody.TrimText(text, maxName)
	switch {
	case errors.Is(err, jsonbody.ErrTooLong):
		return "", fmt.Errorf("the name has more than %d characters", maxName)
	case err != nil:
		return "", fmt.Errorf("the name %w", err)
	case name == "":
		return "", errors.New("the name is missing")
	}
	return name, nil
}

// readText reads a text that the request has, blank or not.
func readText(in *jsonbody.Object, field string, maxCharacters int, text *string) {
	if !in.Has(field) {
		return
	}
	*text = ""
	if given := in.Text(field, maxCharacters); given != nil {
		*text = *given
	}
}

func readFlag(in *jsonbody.Object, field string, flag *bool) {
	if value := in.Bool(field); value != nil {
		*flag = *value
	}
}

const notActiveStore = "no es una tienda activa del operador"

func isActiveStore(ctx context.Context, tx *db.DB, operatorID, storeID uuid.UUID) (bool, error) {
	stores, err := tx.StoresOf(ctx, operatorID, &storeID)
	return len(stores) > 0, err
}

// checkLocation checks that the catalog has the location.
func checkLocation(ctx context.Context, tx *db.DB, in *jsonbody.Object, locationID *uuid.UUID) error {
	if locationID == nil {
		return nil
	}
	known, err := tx.CountLocations(ctx, []uuid.UUID{*locationID})
	if err == nil && known == 0 {
		in.AddError("location_id", "no está en el catálogo")
	}
	return err
}
