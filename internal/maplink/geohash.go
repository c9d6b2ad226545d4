package maplink

import "strings"

const geohashAlphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// Shorter geohashes are regions kilometres wide, and longer texts are not geohashes.
const (
	shortestGeohash = 5
	longestGeohash  = 12
)

// geohash returns the centre of a geohash's cell.
func geohash(code string) (coordinate, bool) {
	if len(code) < shortestGeohash || len(code) > longestGeohash {
		return coordinate{}, false
	}
	south, north, west, east := -90.0, 90.0, -180.0, 180.0
	alongLongitude := true
	for _, digit := range strings.ToLower(code) {
		bits := strings.IndexRune(geohashAlphabet, digit)
		if bits < 0 {
			return coordinate{}, false
		}
		for bit := 1 << 4; bit > 0; bit >>= 1 {
			low, high := &south, &north
			if alongLongitude {
				low, high = &west, &east
			}
			if middle := (*low + *high) / 2; bits&bit != 0 {
				*low = middle
			} else {
				*high = middle
			}
			alongLongitude = !alongLongitude
		}
	}
	return coordinate{(south + north) / 2, (west + east) / 2}.rounded(), true
}
