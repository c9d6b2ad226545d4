// Package maplink finds the point a map link means.
//
// Parse works on the text alone; Resolver also follows short links over the network. Both answer a
// point with the source it came from, or an error that says why there is none: an address is never
// turned into a guess.
package maplink

import (
	"errors"
	"math"
	"strings"
)

// Source tells which part of a link a point was read from, and so how far it can be trusted.
type Source string

// The sources, from the most to the least trustworthy.
const (
	SourcePin      Source = "pin"      // a marker
	SourceQuery    Source = "query"    // coordinates in a parameter
	SourcePath     Source = "path"     // coordinates, or a code for them, that are the link itself
	SourceViewport Source = "viewport" // the centre of a map, which may be far from the place meant
)

// Point is a place on Earth in degrees, always within range.
type Point struct {
	Lat    float64 `json:"lat"`
	Lng    float64 `json:"lng"`
	Source Source  `json:"source"`
}

const (
	// maxLink bounds the work done on one link; real ones, wrapped twice, stay under 6 KiB.
	maxLink = 16 << 10
	// maxWrappers is how many links may be nested in one another: a consent page around a dynamic
	// link, and one to spare.
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
		// A link may hold raw spaces ("q=-12.04, -77.04"), or be followed by words: the whole is
		// tried before its first word.
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
	switch familyOf(l.host, l.rawPath) {
	case familyGoogle:
		if target, wrapped := l.wrappedByGoogle(); wrapped {
			return parseWrapped(target, wrappers)
		}
		return parseGoogle(l)
	case familyWaze:
		return parseWaze(l)
	case familyApple:
		return parseApple(l)
	case familyOSM:
		return parseOSM(l)
	case familyPlusCodes:
		return parsePlusCodeSite(l)
	case familyShort:
		if target := l.param("link"); target != "" {
			return parseWrapped(target, wrappers)
		}
		return Point{}, l.follow()
	default:
		return parsePlain(text)
	}
}

// parseWrapped reads the link that another link carries in a parameter.
func parseWrapped(target string, wrappers int) (Point, error) {
	if wrappers == 0 {
		return Point{}, ErrNoPoint
	}
	return parse(clean(target), wrappers-1)
}

// parsePlain reads coordinates that were pasted as they are, without a link around them.
func parsePlain(text string) (Point, error) {
	if strings.Contains(text, "://") {
		return Point{}, ErrNotMapLink
	}
	found, ok := coordinates(text)
	if !ok {
		return Point{}, ErrNotMapLink
	}
	return found.from(SourcePath)
}

// coordinate is a pair read from a link and not yet checked.
type coordinate struct{ lat, lng float64 }

// meaningful tells a coordinate from 0,0, which applications write where they have none.
func (c coordinate) meaningful() bool { return c.lat != 0 || c.lng != 0 }

// rounded drops what lies beyond a centimetre, noise in coordinates that were computed rather than
// written.
func (c coordinate) rounded() coordinate {
	const perDegree = 1e7
	// Adding zero turns -0 into 0.
	return coordinate{math.Round(c.lat*perDegree)/perDegree + 0, math.Round(c.lng*perDegree)/perDegree + 0}
}

// from checks the coordinate and makes it a point with the given source.
func (c coordinate) from(source Source) (Point, error) {
	if math.Abs(c.lat) > 90 || math.Abs(c.lng) > 180 {
		return Point{}, &OutOfRange{Lat: c.lat, Lng: c.lng, Source: source}
	}
	return Point{Lat: c.lat, Lng: c.lng, Source: source}, nil
}

// finder looks for a coordinate in one place of a link.
type finder struct {
	source Source
	find   func() (coordinate, bool)
}

// firstOf answers the first coordinate found. One out of range ends the search: what comes after it
// is worth less, and would be passed off as what the link means.
func firstOf(finders ...finder) (Point, error) {
	for _, f := range finders {
		if c, ok := f.find(); ok {
			return c.from(f.source)
		}
	}
	return Point{}, ErrNoPoint
}
