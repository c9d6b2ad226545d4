// Package maplink extracts the coordinates of a map link.
//
// Parse uses only the text; Resolver also follows short links over the network. Both return a point
// with its source, or an error that says why there is none. Addresses are never geocoded.
package maplink

import (
	"errors"
	"math"
	"strings"
)

// Source is the part of a link that a point was read from, and so how far it can be trusted.
type Source string

// The sources, from the most to the least reliable.
const (
	SourcePin      Source = "pin"      // a marker
	SourceQuery    Source = "query"    // coordinates in a parameter
	SourcePath     Source = "path"     // coordinates, or a code for them, that are the link itself
	SourceViewport Source = "viewport" // the centre of the map, which may be far from the intended place
)

// Point is a place on Earth in degrees, always within range.
type Point struct {
	Lat    float64 `json:"lat"`
	Lng    float64 `json:"lng"`
	Source Source  `json:"source"`
}

const (
	// maxLink bounds the work for one link; real ones, wrapped twice, stay under 6 KiB.
	maxLink = 16 << 10
	// maxWrappers is how many links may be nested: a consent page around a dynamic link, and one
	// more.
	maxWrappers = 3
)

// Parse reads the point of a map link without the network. A link that needs the network gives a
// *ShortLink error.
func Parse(raw string) (Point, error) {
	text := clean(raw)
	if text == "" || len(text) > maxLink {
		return Point{}, ErrNotMapLink
	}
	point, err := parse(text, maxWrappers)
	if errors.Is(err, ErrNoPoint) {
		// A link may contain raw spaces ("q=-12.04, -77.04") or be followed by words: the whole
		// text is tried before its first word.
		if first, _, spaced := strings.Cut(text, " "); spaced {
			if point, err := parse(first, maxWrappers); err == nil {
				return point, nil
			}
		}
	}
	return point, err
}

func parse(text string, wrappers int) (Point, error) {
	if rest, ok := cutPrefixFold(text, "geo:"); ok {
		return parseGeo(rest)
	}
	l := splitLink(text)
	switch serviceOf(l.host, l.rawPath) {
	case serviceGoogle:
		if target, wrapped := l.wrappedByGoogle(); wrapped {
			return parseWrapped(target, wrappers)
		}
		return parseGoogle(l)
	case serviceWaze:
		return parseWaze(l)
	case serviceApple:
		return parseApple(l)
	case serviceOSM:
		return parseOSM(l)
	case servicePlusCodes:
		return parsePlusCodeSite(l)
	case serviceShort:
		if target := l.param("link"); target != "" {
			return parseWrapped(target, wrappers)
		}
		return Point{}, l.shortLinkError()
	default:
		return parsePlain(text)
	}
}

// parseWrapped reads the link in another link's parameter.
func parseWrapped(target string, wrappers int) (Point, error) {
	if wrappers == 0 {
		return Point{}, ErrNoPoint
	}
	return parse(clean(target), wrappers-1)
}

// parsePlain reads coordinates that were pasted without a link.
func parsePlain(text string) (Point, error) {
	if strings.Contains(text, "://") {
		return Point{}, ErrNotMapLink
	}
	found, ok := coordinates(text)
	if !ok {
		return Point{}, ErrNotMapLink
	}
	return found.toPoint(SourcePath)
}

// coordinate is a pair read from a link, not yet validated.
type coordinate struct{ lat, lng float64 }

// isSet is false for 0,0, which applications write when they have no coordinates.
func (c coordinate) isSet() bool { return c.lat != 0 || c.lng != 0 }

// rounded removes digits below a centimetre, which are rounding errors of computed coordinates.
func (c coordinate) rounded() coordinate {
	const perDegree = 1e7
	// Adding zero turns -0 into 0.
	return coordinate{math.Round(c.lat*perDegree)/perDegree + 0, math.Round(c.lng*perDegree)/perDegree + 0}
}

// toPoint validates the coordinate and returns it as a point with the source.
func (c coordinate) toPoint(source Source) (Point, error) {
	if math.Abs(c.lat) > 90 || math.Abs(c.lng) > 180 {
		return Point{}, &OutOfRange{Lat: c.lat, Lng: c.lng, Source: source}
	}
	return Point{Lat: c.lat, Lng: c.lng, Source: source}, nil
}

// Distance is how far two points are apart, in kilometres along the surface of a sphere.
func Distance(a, b Point) float64 {
	const radius, degree = 6371.0, math.Pi / 180
	latitude, longitude := (b.Lat-a.Lat)*degree/2, (b.Lng-a.Lng)*degree/2
	chord := math.Pow(math.Sin(latitude), 2) + math.Cos(a.Lat*degree)*math.Cos(b.Lat*degree)*math.Pow(math.Sin(longitude), 2)
	return 2 * radius * math.Asin(math.Sqrt(min(chord, 1)))
}

// finder looks for a coordinate in one part of a link.
type finder struct {
	source Source
	find   func() (coordinate, bool)
}

// firstOf returns the first coordinate found. One out of range ends the search: later ones are less
// reliable and would be mistaken for the intended place.
func firstOf(finders ...finder) (Point, error) {
	for _, f := range finders {
		if c, ok := f.find(); ok {
			return c.toPoint(f.source)
		}
	}
	return Point{}, ErrNoPoint
}
