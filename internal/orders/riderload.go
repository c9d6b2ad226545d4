package orders

import (
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/guidecode"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Load is what a rider has scanned at the counter.
type Load struct {
	// ID is what the phone has given it: a load is confirmed once, however often it is sent.
	ID    uuid.UUID
	Codes []string
}

// MaxLoadCodes is the largest number of codes of one load.
const MaxLoadCodes = 300

// maxCodeLength is longer than any code that a reader sends.
const maxCodeLength = 300

// ReadLoad reads what a phone sends.
func ReadLoad(in *jsonbody.Object) (*Load, error) {
	load := &Load{ID: in.RequiredUUID("id"), Codes: in.LineList("codes", maxCodeLength)}
	switch {
	case load.Codes == nil && !in.Has("codes"):
		in.AddError("codes", jsonbody.MissingMessage)
	case len(load.Codes) > MaxLoadCodes:
		in.AddError("codes", "admite hasta "+strconv.Itoa(MaxLoadCodes)+" códigos")
	}
	return load, in.Err()
}

// ConfirmLoad records that a rider has the packages that were scanned, and returns what differs: it
// is shown to the rider and to the operator.
func (s *Service) ConfirmLoad(ctx context.Context, caller Caller, load *Load) (*models.RiderLoad, error) {
	own, extra, err := s.scannedOf(ctx, caller, load.Codes)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	confirmed := &models.RiderLoad{ID: load.ID, OperatorID: caller.Operator.ID, RiderID: *caller.RiderID, Extra: extra, CreatedAt: now}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if len(own) > 0 {
			err := tx.Query(ctx).Model(&models.Order{}).
				Where("id IN ? AND rider_id = ? AND status = ? AND loaded_at IS NULL", own, *caller.RiderID, models.StatusAssigned).
				UpdateColumns(map[string]any{"loaded_at": now, "updated_at": now}).Error
			if err != nil {
				return err
			}
		}
		err := tx.Query(ctx).Model(&models.Order{}).Select("COUNT(loaded_at), COUNT(*) - COUNT(loaded_at)").
			Where("rider_id = ? AND status = ?", *caller.RiderID, models.StatusAssigned).Row().
			Scan(&confirmed.Confirmed, &confirmed.Missing)
		if err != nil {
			return err
		}
		return tx.InsertMissing(ctx, confirmed)
	})
	return confirmed, err
}

// scannedOf tells the packages of a rider from the others that were scanned.
func (s *Service) scannedOf(
	ctx context.Context, caller Caller, codes []string,
) (own []uuid.UUID, extra models.ExtraPackages, err error) {
	for _, typed := range codes {
		code, err := guidecode.Scan(typed)
		if err != nil {
			extra = append(extra, models.ExtraPackage{Code: typed, Message: "No es el código de una guía: léalo otra vez."})
			continue
		}
		order, err := s.findByCode(ctx, caller, code)
		switch {
		case errors.Is(err, ErrOrderNotFound):
			extra = append(extra, models.ExtraPackage{Code: code, Message: "No es un paquete de este operador."})
		case err != nil:
			return nil, nil, err
		case order.Status == models.StatusAssigned && *order.RiderID == *caller.RiderID:
			own = append(own, order.ID)
		default:
			extra = append(extra, models.ExtraPackage{Code: code, Message: notTheRiders(order)})
		}
	}
	return own, extra, nil
}

// notTheRiders says why a scanned package does not go with the rider.
func notTheRiders(order *models.OrderView) string {
	switch {
	case order.Status == models.StatusAssigned:
		return "Va con otro motorizado: no lo lleve."
	case order.Status == models.StatusReceived:
		return "No está asignado a nadie: pida que se lo asignen."
	case order.Status == models.StatusRegistered:
		return "Falta recibirlo en la sucursal y asignarlo."
	}
	return "No sale: su estado es " + order.Status.Label() + "."
}

// LatestLoad is the latest load that a rider has confirmed; nil if there is none.
func (s *Service) LatestLoad(ctx context.Context, caller Caller, riderID uuid.UUID) (*models.RiderLoad, error) {
	var loads []models.RiderLoad
	err := s.db.Query(ctx).Where("operator_id = ? AND rider_id = ?", caller.Operator.ID, riderID).
		Order("created_at DESC").Limit(1).Find(&loads).Error
	if err != nil || len(loads) == 0 {
		return nil, err
	}
	return &loads[0], nil
}
