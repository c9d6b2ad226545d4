package maplink

import (
	"cmp"
	"encoding/base64"
	"strings"
)

// parseGoogle reads Google Maps links. The order of preference is: a pin in the data, coordinates
// in parameters or in the path, the waypoints of the data, and last the centre of the map.
func parseGoogle(l link) (Point, error) {
	if pb := l.param("pb"); pb != "" {
		return parseGoogleEmbed(splitFields(pb))
	}
	path := readGooglePath(l.segments())
	fields := splitFields(path.data + l.param("data"))
	pin, waypoint := pinIn(fields), waypointIn(fields)
	if path.isDirections {
		pin, waypoint = destinationIn(fields)
	}
	if pin == nil && (path.isList || isListData(fields)) {
		return Point{}, ErrList
	}

	finders := []finder{{SourcePin, precomputed(pin)}}
	if path.isDirections || l.param("destination") != "" || l.param("daddr") != "" {
		finders = append(finders,
			finder{SourceQuery, l.coordinates("destination")},
			finder{SourceQuery, func() (coordinate, bool) { return coordinates(lastStop(l.param("daddr"))) }},
			finder{SourcePath, func() (coordinate, bool) { return coordinates(path.target) }},
			finder{SourcePath, precomputed(waypoint)},
			finder{SourceViewport, precomputed(path.viewport)},
			// The destination has no coordinates here, so ll is only the map's centre.
			finder{SourceViewport, l.coordinates("center", "viewpoint", "ll", "sll")},
		)
	} else {
		finders = append(finders,
			finder{SourceQuery, l.coordinates("q", "query")},
			finder{SourcePath, func() (coordinate, bool) { return coordinates(path.target) }},
			finder{SourceQuery, l.coordinates("ll")},
			finder{SourcePath, precomputed(waypoint)},
			finder{SourceViewport, precomputed(path.viewport)},
			finder{SourceViewport, l.coordinates("center", "viewpoint", "location", "cbll", "sll")},
		)
	}
	return firstOf(finders...)
}

// precomputed is a finder for a coordinate that was already looked for; nil means not found.
func precomputed(c *coordinate) func() (coordinate, bool) {
	return func() (coordinate, bool) {
		if c == nil {
			return coordinate{}, false
		}
		return *c, true
	}
}

// lastStop returns the end of a route written "A to:B to:C".
func lastStop(daddr string) string {
	const separator = " to:"
	if last := strings.LastIndex(daddr, separator); last >= 0 {
		return daddr[last+len(separator):]
	}
	return daddr
}

// googlePath is the parsed path of a Google Maps link.
type googlePath struct {
	target       string      // the text of /place/, /search/ or the end of /dir/: coordinates, a code or an address
	viewport     *coordinate // the centre of the map: @lat,lng,17z
	data         string      // the fields after data=
	isDirections bool
	isList       bool
}

func readGooglePath(segments []string) googlePath {
	var path googlePath
	// Place names come before the viewport and the data; segments after them are not names.
	named := segments
	for i, segment := range segments {
		view, isView := strings.CutPrefix(segment, "@")
		data, isData := strings.CutPrefix(segment, "data=")
		switch {
		case isView:
			path.viewport = viewportOf(view)
			if path.viewport == nil && view != "" {
				continue // a name that begins with @
			}
		case isData:
			path.data = data
		case !strings.HasPrefix(segment, "am="):
			continue
		}
		named = named[:min(i, len(named))]
	}
	for i, segment := range named {
		rest := named[i+1:]
		switch segment {
		case "place", "search", "dir":
			path.isDirections = segment == "dir"
			if len(rest) > 0 {
				path.target = rest[0]
			}
			if path.isDirections && len(rest) > 0 {
				path.target = rest[len(rest)-1]
			}
			return path
		case "placelists", "d": // shared lists, and "My Maps"
			path.isList = true
			return path
		}
	}
	return path
}

// viewportOf reads what follows the @: lat,lng and then zoom, altitude, tilt and so on.
func viewportOf(view string) *coordinate {
	parts := strings.SplitN(view, ",", 3)
	if len(parts) < 2 {
		return nil
	}
	found, ok := numbers(parts[0], parts[1])
	if !ok {
		return nil
	}
	return &found
}

// parseGoogleEmbed reads the map of an iframe. Its first fields are the camera's position, not the
// marker's; a marker placed by hand is encoded as text.
func parseGoogleEmbed(fields []field) (Point, error) {
	return firstOf(
		finder{SourcePin, precomputed(pinIn(fields))},
		finder{SourcePin, func() (coordinate, bool) { return markerText(fields) }},
		finder{SourceQuery, precomputed(embeddedWaypointIn(fields))},
		finder{SourceViewport, precomputed(cameraIn(fields))},
	)
}

// markerText reads a marker written as base64 text, such as 12°07'10.1"S 77°01'50.2"W.
func markerText(fields []field) (coordinate, bool) {
	for _, f := range fields {
		if !f.is(2, 'z') {
			continue
		}
		text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(f.value, "="))
		if err != nil {
			continue
		}
		if found, ok := coordinates(string(text)); ok {
			return found, true
		}
	}
	return coordinate{}, false
}

// wrappedByGoogle returns the target of a consent page, a traffic notice or a redirect.
func (l link) wrappedByGoogle() (target string, wrapped bool) {
	switch {
	case strings.HasPrefix(l.host, "consent."), strings.HasPrefix(l.rawPath, "/sorry/"):
		target = l.param("continue")
	case l.rawPath == "/url":
		target = cmp.Or(l.param("q"), l.param("url"))
	}
	return target, target != ""
}
