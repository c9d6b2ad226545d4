package maplink

import "errors"

// Bounds is a bounding box of a country. The zero value contains everything.
type Bounds struct {
	South, West, North, East float64
}

// Contains reports whether a latitude and longitude lie in the box, its edges included.
func (b Bounds) Contains(lat, lng float64) bool {
	return b == Bounds{} || b.South <= lat && lat <= b.North && b.West <= lng && lng <= b.East
}

// countries are bounding boxes by ISO 3166-1 code, with a margin and with each country's islands.
// They also contain parts of the neighbours: they detect points that are far off or swapped, not
// those just across a border.
var countries = map[string]Bounds{
	"AR": {South: -55.5, West: -74.0, North: -21.5, East: -53.4},
	"BO": {South: -23.1, West: -69.9, North: -9.5, East: -57.2},
	"BR": {South: -34.0, West: -74.2, North: 5.5, East: -28.6},    // to Trindade and Martim Vaz
	"CL": {South: -56.8, West: -109.7, North: -17.3, East: -66.2}, // to Rapa Nui
	"CO": {South: -4.4, West: -82.1, North: 16.2, East: -66.7},    // to San Andrés and Serranilla
	"CR": {South: 5.3, West: -87.3, North: 11.4, East: -82.4},     // to Isla del Coco
	"DO": {South: 17.3, West: -72.2, North: 20.1, East: -68.1},
	"EC": {South: -5.2, West: -92.2, North: 1.9, East: -75.0}, // to Galápagos
	"GT": {South: 13.5, West: -92.5, North: 18.0, East: -88.0},
	"HN": {South: 12.8, West: -89.6, North: 17.6, East: -82.9},  // to Islas del Cisne
	"MX": {South: 14.3, West: -118.8, North: 32.9, East: -86.4}, // to Isla Guadalupe
	"NI": {South: 10.5, West: -88.0, North: 15.3, East: -82.0},  // to the Corn Islands and Cayos Miskitos
	"PA": {South: 7.0, West: -83.2, North: 9.8, East: -77.0},
	"PE": {South: -18.6, West: -81.6, North: 0.1, East: -68.5},
	"PY": {South: -27.8, West: -62.8, North: -19.1, East: -54.1},
	"SV": {South: 12.9, West: -90.3, North: 14.6, East: -87.5},
	"UY": {South: -35.3, West: -58.7, North: -29.9, East: -52.9},
	"VE": {South: 0.5, West: -73.6, North: 15.9, East: -59.6}, // to Isla de Aves
}

// Country returns the box of a country by its ISO 3166-1 alpha-2 code in capitals. An unknown code
// gives the zero Bounds, which contain everything.
func Country(code string) (Bounds, bool) {
	bounds, ok := countries[code]
	return bounds, ok
}

// ParseIn is Parse for a country. A point outside it that falls inside with latitude and longitude
// swapped is corrected; any other point outside it gives an *OutsideCountry error.
func ParseIn(raw string, country Bounds) (Point, error) {
	return country.correct(Parse(raw))
}

func (b Bounds) correct(point Point, err error) (Point, error) {
	var outOfRange *OutOfRange
	switch {
	case errors.As(err, &outOfRange):
		// A longitude over 90 in place of the latitude is out of range, and valid when swapped.
		point = Point{Lat: outOfRange.Lat, Lng: outOfRange.Lng, Source: outOfRange.Source}
	case err != nil:
		return Point{}, err
	case b.Contains(point.Lat, point.Lng):
		return point, nil
	}
	if b != (Bounds{}) && b.Contains(point.Lng, point.Lat) {
		return Point{Lat: point.Lng, Lng: point.Lat, Source: point.Source}, nil
	}
	if err != nil {
		return Point{}, err
	}
	return Point{}, &OutsideCountry{Point: point}
}
