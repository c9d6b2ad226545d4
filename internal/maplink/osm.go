package maplink

import "strings"

// parseOSM reads OpenStreetMap links. Directions mean their destination: "to", or the last of the
// older "route".
func parseOSM(l link) (Point, error) {
	segments := l.segments()
	return firstOf(
		finder{SourcePin, l.coordinatePair("mlat", "mlon")},
		finder{SourceQuery, l.coordinates("to", "query")},
		finder{SourceQuery, func() (coordinate, bool) {
			route := l.param("route")
			return coordinates(route[strings.LastIndexByte(route, ';')+1:])
		}},
		finder{SourcePath, func() (coordinate, bool) {
			if len(segments) < 2 || segments[0] != "go" {
				return coordinate{}, false
			}
			return osmShortCode(segments[1])
		}},
		finder{SourceViewport, func() (coordinate, bool) { return osmViewport(l.fragment) }},
		finder{SourceViewport, l.coordinatePair("lat", "lon")},
	)
}

// osmViewport reads the fragment map=<zoom>/<lat>/<lng>.
func osmViewport(fragment string) (coordinate, bool) {
	for part := range strings.SplitSeq(fragment, "&") {
		if view, ok := strings.CutPrefix(part, "map="); ok {
			if numbersIn := strings.Split(view, "/"); len(numbersIn) == 3 {
				return numbers(numbersIn[1], numbersIn[2])
			}
		}
	}
	return coordinate{}, false
}

const (
	osmAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~"
	// The site writes 3 characters for the whole world, and 10 fill the 32 bits of each axis.
	shortestOSMCode = 3
	longestOSMCode  = 10
)

// osmShortCode reads the code of osm.org/go/<code>: quadtiles, 3 bits of each axis to a character.
// As on the site, the point is the south-west corner of the last tile, a pixel of the map at the
// code's zoom.
func osmShortCode(code string) (coordinate, bool) {
	code = strings.TrimRight(code, "-=") // these characters only adjust the zoom
	code = strings.ReplaceAll(code, "@", "~")
	if len(code) < shortestOSMCode || len(code) > longestOSMCode {
		return coordinate{}, false
	}
	var x, y uint32
	for i := range len(code) {
		bits := strings.IndexByte(osmAlphabet, code[i])
		if bits < 0 {
			return coordinate{}, false
		}
		for shift := 5; shift > 0; shift -= 2 {
			x = x<<1 | uint32(bits>>shift&1)
			y = y<<1 | uint32(bits>>(shift-1)&1)
		}
	}
	unused := 32 - 3*len(code)
	x, y = x<<unused, y<<unused
	const axis = 1 << 32
	return coordinate{float64(y)*180/axis - 90, float64(x)*360/axis - 180}.rounded(), true
}
