package maplink

import (
	"cmp"
	"encoding/base64"
	"strings"
)

// parseGoogle reads Google Maps links. A pin in the data wins, then coordinates in parameters or in
// the path, then the waypoints of the data, and the centre of the map only if nothing else says
// where.
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

	finders := []finder{{SourcePin, known(pin)}}
	if path.isDirections || l.param("destination") != "" || l.param("daddr") != "" {
		finders = append(finders,
			finder{SourceQuery, l.coordinates("destination")},
			finder{SourceQuery, func() (coordinate, bool) { return coordinates(lastStop(l.param("daddr"))) }},
			finder{SourcePath, func() (coordinate, bool) { return coordinates(path.target) }},
			finder{SourcePath, known(waypoint)},
			finder{SourceViewport, known(path.viewport)},
			// The destination is elsewhere, so that even ll is only where the map was.
			finder{SourceViewport, l.coordinates("center", "viewpoint", "ll", "sll")},
		)
	} else {
		finders = append(finders,
			finder{SourceQuery, l.coordinates("q", "query")},
			finder{SourcePath, func() (coordinate, bool) { return coordinates(path.target) }},
			finder{SourceQuery, l.coordinates("ll")},
			finder{SourcePath, known(waypoint)},
			finder{SourceViewport, known(path.viewport)},
			finder{SourceViewport, l.coordinates("center", "viewpoint", "location", "cbll", "sll")},
		)
	}
	return firstOf(finders...)
}

// known is the finder of something already looked for; nil is nothing.
func known(c *coordinate) func() (coordinate, bool) {
	return func() (coordinate, bool) {
		if c == nil {
			return coordinate{}, false
		}
		return *c, true
	}
}

// lastStop answers the end of a route written "A to:B to:C".
func lastStop(daddr string) string {
	const separator = " to:"
	if last := strings.LastIndex(daddr, separator); last >= 0 {
		return daddr[last+len(separator):]
	}
	return daddr
}

// googlePath is what the path of a Google Maps link says.
type googlePath struct {
	target       string      // what /place/, /search/ or the end of /dir/ names: coordinates, a code or an address
	viewport     *coordinate // the centre of the map: @lat,lng,17z
	data         string      // the fields behind data=
	isDirections bool
	isList       bool
}

func readGooglePath(segments []string) googlePath {
	var path googlePath
	// Names come before the viewport and the data; what comes after them has no name.
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

// viewportOf reads what follows the @: lat,lng and then zoom, altitude, tilt and the like.
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

// parseGoogleEmbed reads the map of an iframe. Its first fields are where the camera stands, which
// is not the marker; a marker dropped by hand is there as text.
func parseGoogleEmbed(fields []field) (Point, error) {
	return firstOf(
		finder{SourcePin, known(pinIn(fields))},
		finder{SourcePin, func() (coordinate, bool) { return markerText(fields) }},
		finder{SourceQuery, known(embeddedWaypointIn(fields))},
		finder{SourceViewport, known(cameraIn(fields))},
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

// wrappedByGoogle answers the link that a Google page carries on to: a consent or traffic notice,
// or a redirect.
func (l link) wrappedByGoogle() (target string, wrapped bool) {
	switch {
	case strings.HasPrefix(l.host, "consent."), strings.HasPrefix(l.rawPath, "/sorry/"):
		target = l.param("continue")
	case l.rawPath == "/url":
		target = cmp.Or(l.param("q"), l.param("url"))
	}
	return target, target != ""
}
