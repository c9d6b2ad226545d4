package orders

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/maplink"
	"despacho/internal/numeral"
	"despacho/models"
)

// maxKmFromCapital is how far from the capital of its district a point is not doubted.
const maxKmFromCapital = 30

// PointDoubt says why a point is probably wrong.
type PointDoubt struct {
	// Swapped is the point with latitude and longitude exchanged, if that is near the destination.
	Swapped *maplink.Point
	// Kilometres is how far the point is from Place, the destination; 0 if that is not known.
	Kilometres int
	Place      string
}

// warning is the doubt for somebody who is not asked.
func (d *PointDoubt) warning() string {
	switch {
	case d.Swapped != nil:
		return "El punto parece tener la latitud y la longitud al revés."
	case d.Kilometres > 0:
		return fmt.Sprintf("El punto está a unos %d km de %s.", d.Kilometres, d.Place)
	}
	return "El punto está fuera del país del operador."
}

// TypedPoint is a point as a person gave it.
type TypedPoint struct {
	maplink.Point
	// Doubt is nil for a plausible point.
	Doubt *PointDoubt
}

// ReadPointOf reads the point of an order from what people have: a map link of any kind, or
// coordinates with decimal points or commas. Short links are followed. The error names the field.
func (s *Service) ReadPointOf(ctx context.Context, caller Caller, id uuid.UUID, field, typed string) (*TypedPoint, error) {
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	places, _, err := s.catalog.Destination(ctx, order.LocationID)
	if err != nil {
		return nil, err
	}
	point, unread, err := s.resolveLink(ctx, numeral.Pair(typed), maplink.Bounds{})
	if err != nil {
		return nil, err
	}
	var outOfRange *maplink.OutOfRange
	if errors.As(unread, &outOfRange) {
		// A longitude over 90 in place of the latitude; the doubt is that it is swapped.
		swapped := maplink.Point{Lat: outOfRange.Lng, Lng: outOfRange.Lat, Source: outOfRange.Source}
		if math.Abs(swapped.Lat) <= 90 && math.Abs(swapped.Lng) <= 180 && doubtAbout(swapped, places, caller.Operator) == nil {
			return &TypedPoint{Point: swapped, Doubt: &PointDoubt{Swapped: &swapped}}, nil
		}
	}
	if unread != nil {
		return nil, fieldError(field, unreadPoint(unread))
	}
	return &TypedPoint{Point: point, Doubt: doubtAbout(point, places, caller.Operator)}, nil
}

// resolveLink reads the point of a map link; unread is why it gives none. A short link is followed.
func (s *Service) resolveLink(ctx context.Context, link string, country maplink.Bounds) (point maplink.Point, unread, err error) {
	point, unread = s.options.MapLinks.Parse(link, country)
	var short *maplink.ShortLink
	if !errors.As(unread, &short) {
		return point, unread, nil
	}
	point, unread = s.options.MapLinks.Resolve(ctx, link, country)
	return point, unread, ctx.Err()
}

// unreadPoint says why a text gives no point.
func unreadPoint(err error) string {
	switch {
	case maplink.Temporary(err):
		return "el enlace no se pudo abrir ahora: ábralo en el teléfono y copie las coordenadas, o vuelva a intentarlo"
	case errors.Is(err, maplink.ErrNotMapLink):
		return "pegue un enlace de mapa, o las coordenadas como -12.1211, -77.0297"
	case errors.Is(err, maplink.ErrOutOfRange):
		return "la latitud va de -90 a 90 y la longitud de -180 a 180"
	}
	return "el enlace no contiene un punto: copie las coordenadas del mapa"
}

// doubtAbout compares a point with the destination, given with its ancestors, nearest first.
func doubtAbout(point maplink.Point, places []catalog.Location, operator *models.Operator) *PointDoubt {
	swapped := maplink.Point{Lat: point.Lng, Lng: point.Lat, Source: point.Source}
	for _, place := range places {
		if place.Lat == nil || place.Lng == nil {
			continue
		}
		capital := maplink.Point{Lat: *place.Lat, Lng: *place.Lng}
		distance := maplink.Distance(point, capital)
		if distance <= maxKmFromCapital {
			return nil
		}
		doubt := &PointDoubt{Kilometres: int(math.Round(distance)), Place: place.Name}
		if math.Abs(swapped.Lat) <= 90 && maplink.Distance(swapped, capital) <= maxKmFromCapital {
			doubt.Swapped = &swapped
		}
		return doubt
	}
	bounds, _ := maplink.Country(operator.CountryCode)
	if bounds.Contains(point.Lat, point.Lng) {
		return nil
	}
	doubt := &PointDoubt{}
	if bounds.Contains(swapped.Lat, swapped.Lng) {
		doubt.Swapped = &swapped
	}
	return doubt
}

// SetPoint sets the delivery point on behalf of the operator. Its warning is the doubt about the
// point.
func (s *Service) SetPoint(ctx context.Context, caller Caller, id uuid.UUID, lat, lng float64) (*Corrected, error) {
	c, err := s.newCorrection(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	c.setPoint(maplink.Point{Lat: lat, Lng: lng}, models.PointByOperator)
	return s.correct(ctx, caller, c, CorrectionPrecondition{})
}

func (c *correction) setPoint(point maplink.Point, source string) {
	c.add(func(o *models.OrderView) { c.place(o, point, source) })
}

func (c *correction) place(order *models.OrderView, point maplink.Point, source string) {
	setPoint(&order.Order, point.Lat, point.Lng, source)
	c.placed = true
}

// warnOfPoint warns of a point that is probably not at the order's destination.
func (c *correction) warnOfPoint(order *models.OrderView, destination []catalog.Location) {
	if order.DeliveryLat == nil || order.DeliveryLng == nil {
		return
	}
	if doubt := doubtAbout(maplink.Point{Lat: *order.DeliveryLat, Lng: *order.DeliveryLng}, destination,
		c.operator); doubt != nil {
		c.warn(doubt.warning())
	}
}

// followLink takes the point of a new map link, which it reads as a creation does. With a link that
// gives none the order has no point: the old one is that of another place. The link that the order
// has is not followed again, and its point stays.
func (s *Service) followLink(ctx context.Context, c *correction, link string) error {
	var point *maplink.Point
	if !hasLink(c.order, link) {
		bounds, _ := maplink.Country(c.operator.CountryCode)
		resolved, unread, err := s.resolveLink(ctx, link, bounds)
		switch {
		case err != nil:
			return err
		case unread == nil:
			point = &resolved
		}
	}
	c.add(func(o *models.OrderView) {
		switch {
		case hasLink(o, link):
		case point != nil:
			c.place(o, *point, string(point.Source))
		default:
			removePoint(o)
			c.warn("El enlace de mapa no dio un punto: el operador lo completará.")
		}
	})
	return nil
}

func hasLink(order *models.OrderView, link string) bool {
	return order.DeliveryMapsURL != nil && *order.DeliveryMapsURL == link
}

// isPointOfLink reports whether the order's point is the one of its map link.
func isPointOfLink(order *models.OrderView) bool {
	return order.PointSource != nil && *order.PointSource != models.PointGiven && *order.PointSource != models.PointByOperator
}

func removePoint(order *models.OrderView) {
	order.DeliveryLat, order.DeliveryLng, order.PointSource = nil, nil, nil
}
