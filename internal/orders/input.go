package orders

import (
	"math"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/phone"
	"despacho/models"
)

// Text limits, in characters.
const (
	maxName      = 200
	maxAddress   = 500
	maxProduct   = 500
	maxReference = 500
	maxNotes     = 2000
	maxDocument  = 50
	maxLink      = 2048
	// anyLength is for values that are looked up and never stored.
	anyLength = math.MaxInt
)

// newOrder is a creation request with well-formed fields. Coverage and price are not checked yet.
type newOrder struct {
	// Order has the fields that the request gives; newOrderView sets the others.
	models.Order
	// branchID and size are those that the request names, if any.
	branchID *uuid.UUID
	size     *string
}

// readNewOrder reads a creation request. Its error names every invalid field.
func readNewOrder(in *jsonbody.Object, caller Caller, settings *settings) (*newOrder, error) {
	order := &newOrder{
		Order: models.Order{
			ExternalID:         readExternalID(in),
			RecipientName:      in.RequiredText("recipient_name", maxName),
			DeliveryAddress:    in.RequiredLines("delivery_address", maxAddress),
			LocationID:         in.RequiredUUID("location_id"),
			Product:            in.RequiredText("product", maxProduct),
			DeliveryReference:  in.Lines("delivery_reference", maxReference),
			DeliveryMapsURL:    in.Text("delivery_maps_url", maxLink),
			Notes:              in.Lines("notes", maxNotes),
			RecipientDocNumber: in.Text("recipient_doc_number", maxDocument),
			DeliveryType:       models.DeliveryHome,
		},
		size:     in.Text("size", anyLength),
		branchID: readBranch(in, settings),
	}
	order.StoreID = readStore(in, caller, settings)
	order.RecipientPhone = phone.Read(in, "recipient_phone", caller.Operator.CountryCode)
	order.DeliveryLat, order.DeliveryLng = readPoint(in, "delivery_lat", "delivery_lng")
	order.readPayment(in)
	if docType := in.Enum("recipient_doc_type", string(models.DocDNI), string(models.DocCE), string(models.DocPassport),
		string(models.DocOther)); docType != nil {
		known := models.DocType(*docType)
		order.RecipientDocType = &known
	}
	if kind := in.Enum("delivery_type", string(models.DeliveryHome), string(models.DeliveryAgency)); kind != nil {
		order.DeliveryType = models.DeliveryType(*kind)
	}
	return order, in.Err()
}

// notABranch is the error of a branch_id.
const notABranch = "no es una sucursal activa del operador"

func readBranch(in *jsonbody.Object, settings *settings) *uuid.UUID {
	id := in.UUID("branch_id")
	if id == nil {
		return nil
	}
	if _, known := settings.branches[*id]; !known {
		in.AddError("branch_id", notABranch)
	}
	return id
}

// readStore is a restricted caller's own store, whatever the body says.
func readStore(in *jsonbody.Object, caller Caller, settings *settings) *uuid.UUID {
	if caller.StoreID != nil {
		return caller.StoreID
	}
	id := in.UUID("store_id")
	if id == nil {
		return nil
	}
	if store, known := settings.stores[*id]; !known || !store.Active {
		in.AddError("store_id", "no es una tienda activa del operador")
	}
	return id
}

// readPoint reads a latitude and a longitude, which must both be present or both absent.
func readPoint(in *jsonbody.Object, latField, lngField string) (lat, lng *float64) {
	lat, lng = in.Number(latField, -90, 90), in.Number(lngField, -180, 180)
	if in.Has(latField) && !in.Has(lngField) {
		in.AddError(lngField, "es obligatorio junto con "+latField)
	}
	if in.Has(lngField) && !in.Has(latField) {
		in.AddError(latField, "es obligatorio junto con "+lngField)
	}
	return lat, lng
}

// ReadRequiredPoint is readPoint for a required point.
func ReadRequiredPoint(in *jsonbody.Object, latField, lngField string) (lat, lng float64) {
	for _, field := range []string{latField, lngField} {
		if !in.Has(field) {
			in.AddError(field, jsonbody.MissingMessage)
		}
	}
	gotLat, gotLng := readPoint(in, latField, lngField)
	if gotLat == nil || gotLng == nil {
		return 0, 0
	}
	return *gotLat, *gotLng
}

// readPayment derives the payment type: an amount always means cash on delivery, but cash on
// delivery without an amount is allowed, because the store may not have fixed the price yet.
func (o *newOrder) readPayment(in *jsonbody.Object) {
	if amount := in.Money("amount_to_collect"); amount != nil {
		o.AmountToCollect = *amount
	}
	if o.AmountToCollect > 0 {
		in.Text("payment_type", anyLength) // overridden, but it must be a string
		o.PaymentType = models.CashOnDelivery
		return
	}
	o.PaymentType = models.DeliveryOnly
	if declared := in.Enum("payment_type", string(models.CashOnDelivery), string(models.DeliveryOnly)); declared != nil {
		o.PaymentType = models.PaymentType(*declared)
	}
}
