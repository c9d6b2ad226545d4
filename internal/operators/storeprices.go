package operators

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// StorePrices are what stores pay instead of the operator's tariff, those of a store together, the
// latest first. Existing orders keep their price when one is changed.
func (s *Service) StorePrices() Rows[models.StorePrice] {
	return Rows[models.StorePrice]{
		service: s, patch: patchStorePrice, errs: rowErrors{notFound: ErrPriceNotFound},
		order: func(a, b models.StorePrice) int {
			if a.StoreID != b.StoreID {
				return slices.Compare(a.StoreID[:], b.StoreID[:])
			}
			return strings.Compare(b.FromDay, a.FromDay)
		},
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.StorePrice {
			return models.StorePrice{ID: id, OperatorID: operator.ID, CreatedAt: now}
		},
	}
}

// PricesOf are the prices of one store, as StorePrices lists them.
func (s *Service) PricesOf(ctx context.Context, operator *models.Operator, storeID uuid.UUID) ([]models.StorePrice, error) {
	all, err := s.StorePrices().List(ctx, operator)
	return slices.DeleteFunc(all, func(p models.StorePrice) bool { return p.StoreID != storeID }), err
}

// DeleteStorePrice deletes a price of a store.
func (s *Service) DeleteStorePrice(ctx context.Context, operator *models.Operator, id uuid.UUID) error {
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		price, err := findOwned[models.StorePrice](ctx, tx, operator.ID, id)
		if err != nil {
			return err
		}
		if err := tx.Query(ctx).Delete(price).Error; err != nil {
			return err
		}
		return s.audit(ctx, tx, operator.ID, models.AuditPriceRemoved, &price.StoreID, "")
	})
	return rowErrors{notFound: ErrPriceNotFound}.replace(err)
}

func patchStorePrice(ctx context.Context, tx *db.DB, operator *models.Operator, price *models.StorePrice, in *jsonbody.Object) error {
	isNew := price.StoreID == uuid.Nil
	if isNew || in.Has("store_id") {
		price.StoreID = in.RequiredUUID("store_id")
		if _, err := findOwned[models.Store](ctx, tx, operator.ID, price.StoreID); db.IsNotFound(err) {
			in.AddError("store_id", "no es una tienda del operador")
		} else if err != nil {
			return err
		}
	}
	if in.HasOrNull("location_id") {
		price.LocationID = in.UUID("location_id")
		if err := checkCovered(ctx, tx, operator.ID, in, price.LocationID); err != nil {
			return err
		}
	}
	if amount := in.Money("price"); amount != nil {
		price.Price = *amount
	} else if !in.Has("price") && (isNew || in.HasOrNull("price")) {
		in.AddError("price", jsonbody.MissingMessage)
	}
	readDays(in, price)
	if err := in.Err(); err != nil {
		return err
	}
	others, err := listOwned[models.StorePrice](ctx, tx, operator.ID)
	if err != nil {
		return err
	}
	for i := range others {
		if others[i].ID != price.ID && others[i].Overlaps(price) {
			return ErrPriceOverlaps
		}
	}
	return nil
}

// checkCovered checks that the location has a row of the coverage: only those have prices.
func checkCovered(ctx context.Context, tx *db.DB, operatorID uuid.UUID, in *jsonbody.Object, locationID *uuid.UUID) error {
	if locationID == nil {
		return nil
	}
	var rows int64
	err := owned[models.Coverage](tx.Query(ctx).Model(&models.Coverage{}), operatorID).Where("location_id = ?", *locationID).
		Count(&rows).Error
	if err == nil && rows == 0 {
		in.AddError("location_id", "no es un lugar de su cobertura: agréguelo primero, o elija el que lo cubre")
	}
	return err
}

// readDays reads on which days a price holds. A null until_day is open.
func readDays(in *jsonbody.Object, price *models.StorePrice) {
	valid := true
	if price.FromDay == "" || in.HasOrNull("from_day") {
		price.FromDay = in.RequiredText("from_day", len(time.DateOnly))
		valid = price.FromDay == "" || checkDay(in, "from_day", price.FromDay)
	}
	if in.HasOrNull("until_day") {
		if price.UntilDay = in.Text("until_day", len(time.DateOnly)); price.UntilDay != nil {
			valid = checkDay(in, "until_day", *price.UntilDay) && valid
		}
	}
	if valid && price.EndsBefore(price.FromDay) {
		in.AddError("until_day", "debe ser el mismo día que el primero, o uno después")
	}
}

func checkDay(in *jsonbody.Object, field, text string) (valid bool) {
	day, err := time.Parse(time.DateOnly, text)
	if valid = err == nil && clock.InRange(day); !valid {
		in.AddError(field, "debe ser una fecha YYYY-MM-DD")
	}
	return valid
}
