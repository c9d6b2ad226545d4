package maplink

// parseApple reads Apple Maps links. "coordinate", and a "q" that is coordinates, are pins; "sll"
// and "center" are only the map's centre.
func parseApple(l link) (Point, error) {
	if l.param("daddr") != "" || l.param("destination") != "" {
		return firstOf(
			finder{SourceQuery, l.coordinates("daddr", "destination")},
			finder{SourceViewport, l.coordinates("ll", "center", "sll")},
		)
	}
	return firstOf(
		finder{SourcePin, l.coordinates("coordinate", "q")},
		finder{SourceQuery, l.coordinates("ll")},
		finder{SourceViewport, l.coordinates("center", "sll")},
	)
}
