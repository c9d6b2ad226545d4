package maplink

import (
	"strconv"
	"strings"
)

// field is one field of the data that Google encodes in links: !<id><kind><value>. Kind d is a
// number; kind m is a message made of the next <value> fields, nested ones included.
type field struct {
	id    int
	kind  byte
	value string
}

func (f field) is(id int, kind byte) bool { return f.id == id && f.kind == kind }

// splitFields splits encoded data into its fields; anything else is skipped.
func splitFields(data string) []field {
	if data == "" {
		return nil
	}
	fields := make([]field, 0, strings.Count(data, "!"))
	for piece := range strings.SplitSeq(data, "!") {
		digits := 0
		for digits < len(piece) && '0' <= piece[digits] && piece[digits] <= '9' {
			digits++
		}
		if id, err := strconv.Atoi(piece[:digits]); err == nil && digits < len(piece) {
			fields = append(fields, field{id: id, kind: piece[digits], value: piece[digits+1:]})
		}
	}
	return fields
}

// pinIn returns the last marker, !3d<lat>!4d<lng>: earlier ones are the places visited before, and
// the last is the place on screen.
func pinIn(fields []field) *coordinate {
	return lastPair(fields, 3, latitudeFirst)
}

// waypointIn returns the last waypoint, !1d<lng>!2d<lat>.
func waypointIn(fields []field) *coordinate {
	return lastPair(fields, 1, longitudeFirst)
}

// embeddedWaypointIn returns the last waypoint of an iframe, which has the reverse order:
// !1d<lat>!2d<lng>.
func embeddedWaypointIn(fields []field) *coordinate {
	return lastPair(fields, 1, latitudeFirst)
}

// cameraIn returns the camera's position, !2d<lng>!3d<lat>.
func cameraIn(fields []field) *coordinate {
	return lastPair(fields, 2, longitudeFirst)
}

func latitudeFirst(first, second string) (coordinate, bool)  { return numbers(first, second) }
func longitudeFirst(first, second string) (coordinate, bool) { return numbers(second, first) }

// lastPair reads the last two consecutive numbers with the given id and the next one. Longer runs
// are something else: the camera is !1d<height>!2d<lng>!3d<lat>, of which neither end is a
// waypoint.
func lastPair(fields []field, id int, read func(first, second string) (coordinate, bool)) *coordinate {
	for i := len(fields) - 2; i >= 0; i-- {
		if !fields[i].is(id, 'd') || !fields[i+1].is(id+1, 'd') {
			continue
		}
		if i+2 < len(fields) && fields[i+2].is(id+2, 'd') {
			continue
		}
		if found, ok := read(fields[i].value, fields[i+1].value); ok {
			return &found
		}
	}
	return nil
}

// destinationIn returns the pin and the waypoint of a route's destination. The route is
// !4m(!4m(!1m(stop) !1m(stop)...)): a last stop without coordinates has none, whatever the earlier
// stops have. Data of another form is searched flat.
func destinationIn(fields []field) (pin, waypoint *coordinate) {
	for _, outer := range messages(fields, 4) {
		for _, route := range messages(outer, 4) {
			if stops := messages(route, 1); len(stops) > 0 {
				stop := withoutVia(stops[len(stops)-1])
				return pinIn(stop), waypointIn(stop)
			}
		}
	}
	return pinIn(fields), waypointIn(fields)
}

// messages returns the bodies of the top-level messages with an id, or none if a message claims
// more fields than there are.
func messages(fields []field, id int) [][]field {
	var bodies [][]field
	for i := 0; i < len(fields); i++ {
		if fields[i].kind != 'm' {
			continue
		}
		count, err := strconv.Atoi(fields[i].value)
		if err != nil || count < 0 || count > len(fields)-i-1 {
			return nil
		}
		if fields[i].id == id {
			bodies = append(bodies, fields[i+1:i+1+count])
		}
		i += count
	}
	return bodies
}

// withoutVia removes the via points of a dragged route, !3m messages at the end of a stop.
func withoutVia(stop []field) []field {
	for i, f := range stop {
		if f.is(3, 'm') {
			return stop[:i]
		}
	}
	return stop
}

// isListData reports whether the data is that of a shared list: !11m<n>!2s<list id>.
func isListData(fields []field) bool {
	for i := 1; i < len(fields); i++ {
		if fields[i-1].is(11, 'm') && fields[i].is(2, 's') {
			return true
		}
	}
	return false
}
