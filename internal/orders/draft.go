package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// draft is a validated creation request with its branch, destination, size, price and risk zone.
type draft struct {
	*newOrder
	branch *models.Branch
	// destination is the location and its ancestors, nearest first.
	destination []catalog.Location
	size        *models.Size
	price       money.Cents
	risk        *models.RiskZone
	// scenario is that of a test order.
	scenario *Scenario
}

// draft reads and validates a creation request.
func (s *Service) draft(ctx context.Context, caller Caller, settings *settings, in *jsonbody.Object) (*draft, error) {
	if caller.StoreID != nil && !settings.stores[*caller.StoreID].Active {
		return nil, ErrStoreInactive
	}
	wanted, err := readNewOrder(in, caller, settings)
	if err != nil {
		return nil, err
	}
	wanted.Test = caller.Test
	scenario := scenarioOf(&wanted.Order)
	branch, err := settings.receivingBranch(wanted.branchID)
	if err != nil {
		return nil, err
	}
	destination, err := s.destination(ctx, wanted.LocationID)
	if err == nil && scenario.notCovered {
		err = ErrNotCovered
	}
	if err != nil {
		return nil, err
	}
	size := settings.sizeFor(wanted.size)
	price, err := settings.tariff(payerAt(wanted.StoreID, caller.Operator, s.clock.Now()), destination, size)
	if err != nil {
		return nil, err
	}
	risk := settings.riskZone(destination, wanted.DeliveryAddress)
	if risk == nil && scenario.atRisk {
		risk = &models.RiskZone{Name: "zona de prueba"}
	}
	return &draft{
		newOrder: wanted, branch: branch, destination: destination, size: size, price: price, risk: risk, scenario: scenario,
	}, nil
}

// destination returns the location and its ancestors, nearest first.
func (s *Service) destination(ctx context.Context, locationID uuid.UUID) ([]catalog.Location, error) {
	places, known, err := s.catalog.Destination(ctx, locationID)
	if err == nil && (!known || !isDestination(places[0])) {
		return nil, ErrNotCovered
	}
	return places, err
}

// isDestination reports whether an order can be sent to a location: a district or a zone.
func isDestination(place catalog.Location) bool {
	return place.Type == catalog.TypeDistrict || place.Type == catalog.TypeZone
}

// warning is the risk zone warning, or empty.
func (d *draft) warning() string {
	if d.risk == nil {
		return ""
	}
	return riskWarning(d.risk)
}

// receivingBranch is the named branch, which readBranch has checked, or the main one.
func (s *settings) receivingBranch(id *uuid.UUID) (*models.Branch, error) {
	if id != nil {
		branch := s.branches[*id]
		return &branch, nil
	}
	if s.mainBranch == nil {
		return nil, apperror.New(apperror.Unprocessable, "no_main_branch", "El operador todavía no tiene una sucursal principal.")
	}
	return s.mainBranch, nil
}

// Preview describes the order that a request would create.
type Preview struct {
	RecipientName   string
	RecipientPhone  string
	DeliveryAddress string
	LocationID      uuid.UUID
	Product         string
	Size            string
	AmountToCollect money.Cents
	PaymentType     models.PaymentType
	ShippingCost    money.Cents
	Currency        string
	Warning         string
}

// Check validates a creation request like Create, without creating the order.
func (s *Service) Check(ctx context.Context, caller Caller, in *jsonbody.Object) (*Preview, error) {
	settings, err := s.settings.get(ctx, caller.Operator)
	if err != nil {
		return nil, err
	}
	draft, err := s.draft(ctx, caller, settings, in)
	if err != nil {
		return nil, err
	}
	return &Preview{
		RecipientName: draft.RecipientName, RecipientPhone: draft.RecipientPhone, DeliveryAddress: draft.DeliveryAddress,
		LocationID: draft.LocationID,
		Product:    draft.Product, Size: sizeCode(draft.size), AmountToCollect: draft.AmountToCollect,
		PaymentType:  draft.PaymentType,
		ShippingCost: draft.price, Currency: caller.Operator.Currency, Warning: draft.warning(),
	}, nil
}
