package maplink

import "strings"

// parseGeo reads what follows "geo:" in a geo URI: lat,lng[,altitude][;parameters][?q=...]. A q
// with coordinates wins over the path, which senders fill with 0,0 or with a place nearby.
func parseGeo(rest string) (Point, error) {
	rest = strings.TrimPrefix(rest, "//")
	path, query, _ := strings.Cut(rest, "?")
	l := link{params: splitQuery(query)}
	return firstOf(
		finder{SourceQuery, l.coordinates("q")},
		finder{SourcePath, func() (coordinate, bool) { return geoPath(path) }},
	)
}

func geoPath(path string) (coordinate, bool) {
	path, parameters, _ := strings.Cut(unescape(path, false), ";")
	if crs, ok := cutPrefixFold(parameters, "crs="); ok {
		if rest, isWGS84 := cutPrefixFold(crs, "wgs84"); !isWGS84 || rest != "" && rest[0] != ';' {
			return coordinate{}, false
		}
	}
	if parts := strings.Split(path, ","); len(parts) == 3 {
		if _, rest, ok := scanNumber(parts[2]); ok && rest == "" { // the third number is the altitude
			path = parts[0] + "," + parts[1]
		}
	}
	found, ok := decimalPair(path)
	return found, ok && found.isSet()
}
