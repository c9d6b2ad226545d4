package maplink

import "strings"

// parseWaze reads Waze links. Directions mean their destination ("to"); "from" is never read.
func parseWaze(l link) (Point, error) {
	segments := l.segments()
	finders := make([]finder, 0, 4)
	if to := l.param("to"); to != "" {
		finders = append(finders,
			finder{SourceQuery, func() (coordinate, bool) {
				pair, _ := cutPrefixFold(to, "ll.")
				return coordinates(pair)
			}},
			// If the destination is a place id, ll is only the map's centre.
			finder{SourceViewport, l.coordinates("ll")},
		)
	} else {
		finders = append(finders,
			finder{SourceQuery, l.coordinates("ll", "latlng", "q")},
			finder{SourcePath, func() (coordinate, bool) { return wazeGeohash(l, segments) }},
		)
	}
	finders = append(finders, finder{SourceViewport, l.coordinatePair("lat", "lon")})
	return firstOf(finders...)
}

// wazeGeohash reads /ul/h<geohash>, its older form /lr/h<geohash>, and the h parameter of the live
// map.
func wazeGeohash(l link, segments []string) (coordinate, bool) {
	last := segments[len(segments)-1]
	if len(segments) > 1 {
		switch segments[len(segments)-2] {
		case "ul", "lr":
			if code, ok := strings.CutPrefix(last, "h"); ok {
				return geohash(code)
			}
		}
	}
	return geohash(l.param("h"))
}
