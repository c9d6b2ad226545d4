package operators

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/textnorm"
	"despacho/models"
)

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

func readFlag(in *jsonbody.Object, field string, flag *bool) {
	if value := in.Bool(field); value != nil {
		*flag = *value
	}
}

// readMoney reads an amount; null is none, and what the request omits stays as it is.
func readMoney(in *jsonbody.Object, field string, amount **money.Cents) {
	if in.HasOrNull(field) {
		*amount = in.Money(field)
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
	known, err := countLocations(ctx, tx, *locationID)
	if err == nil && known == 0 {
		in.AddError("location_id", "no está en el catálogo")
	}
	return err
}

// countLocations counts how many of the ids, which must be distinct, are in the catalog.
func countLocations(ctx context.Context, tx *db.DB, ids ...uuid.UUID) (known int64, err error) {
	err = tx.Query(ctx).Model(&models.Location{}).Where("id IN ?", ids).Count(&known).Error
	return known, err
}
