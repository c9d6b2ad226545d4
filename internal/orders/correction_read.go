package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/maplink"
	"despacho/internal/phone"
	"despacho/models"
)

// Correctable reports whether a correction may have a member of a creation request.
func Correctable(member string) bool {
	return slices.Contains([]string{
		"recipient_phone", "delivery_address", "delivery_reference", "location_id", "delivery_lat", "delivery_lng",
		"delivery_maps_url",
		"size", "notes", "amount_to_collect", "payment_type",
	}, member)
}

// readCorrection reads a request with the rules of a creation.
func (s *Service) readCorrection(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object) (*correction, error) {
	c, err := s.newCorrection(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	c.readTexts(in)
	c.readSize(in)
	c.readPayment(in)
	var location uuid.UUID
	if in.HasOrNull("location_id") {
		location = in.RequiredUUID("location_id")
	}
	link := in.Text("delivery_maps_url", maxLink)
	lat, lng := readPoint(in, "delivery_lat", "delivery_lng")
	if err := in.Err(); err != nil {
		return nil, err
	}
	if in.HasOrNull("location_id") {
		destination, err := s.destination(ctx, location)
		if err != nil {
			return nil, err
		}
		c.add(func(o *models.OrderView) { o.LocationID, o.LocationName = location, destination[0].Name })
	}
	if err := s.readNewPoint(ctx, c, in, link, lat, lng); err != nil {
		return nil, err
	}
	return c, nil
}

// readTexts takes what is stored as it is read.
func (c *correction) readTexts(in *jsonbody.Object) {
	if in.HasOrNull("recipient_phone") {
		number := phone.Read(in, "recipient_phone", c.operator.CountryCode)
		c.add(func(o *models.OrderView) { o.RecipientPhone = number })
	}
	if in.HasOrNull("delivery_address") {
		address := in.RequiredLines("delivery_address", maxAddress)
		c.add(func(o *models.OrderView) { o.DeliveryAddress = address })
	}
	if in.HasOrNull("delivery_reference") {
		reference := in.Lines("delivery_reference", maxReference)
		c.add(func(o *models.OrderView) { o.DeliveryReference = reference })
	}
	if in.HasOrNull("notes") {
		notes := in.Lines("notes", maxNotes)
		c.add(func(o *models.OrderView) { o.Notes = notes })
	}
}

// readNewPoint takes the map link and the point. A point that is given comes before that of a link.
func (s *Service) readNewPoint(ctx context.Context, c *correction, in *jsonbody.Object, link *string, lat, lng *float64) error {
	if lat == nil && (in.HasOrNull("delivery_lat") || in.HasOrNull("delivery_lng")) {
		c.add(removePoint)
	}
	if link != nil && lat == nil {
		if err := s.followLink(ctx, c, *link); err != nil {
			return err
		}
	}
	if in.HasOrNull("delivery_maps_url") {
		c.add(func(o *models.OrderView) {
			if o.DeliveryMapsURL = link; link == nil && isPointOfLink(o) {
				removePoint(o)
			}
		})
	}
	if lat != nil && lng != nil {
		c.setPoint(maplink.Point{Lat: *lat, Lng: *lng}, models.PointGiven)
	}
	return nil
}

// readSize takes the operator's size with the code, or its default, as a creation does. The size
// that the order has stays, although the operator may not offer it any more.
func (c *correction) readSize(in *jsonbody.Object) {
	if !in.HasOrNull("size") {
		return
	}
	code := in.Text("size", anyLength)
	c.add(func(o *models.OrderView) {
		if code == nil || *code != o.Size {
			o.Size = sizeCode(c.settings.sizeFor(code))
		}
	})
}

// readPayment derives the payment type as a creation does, except that one that is not given stays.
func (c *correction) readPayment(in *jsonbody.Object) {
	amount, hasAmount := in.Money("amount_to_collect"), in.HasOrNull("amount_to_collect")
	var declared *string
	if amount != nil && *amount > 0 {
		in.Text("payment_type", anyLength) // overridden, but it must be a string
	} else {
		declared = in.Enum("payment_type", string(models.CashOnDelivery), string(models.DeliveryOnly))
	}
	c.add(func(o *models.OrderView) {
		if hasAmount {
			o.AmountToCollect = 0
		}
		if amount != nil {
			o.AmountToCollect = *amount
		}
		switch {
		case o.AmountToCollect > 0:
			o.PaymentType = models.CashOnDelivery
		case declared != nil:
			o.PaymentType = models.PaymentType(*declared)
		}
	})
}
