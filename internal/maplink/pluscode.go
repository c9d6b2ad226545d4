package maplink

import "strings"

const (
	plusAlphabet = "23456789CFGHJMPQRVWX"
	// plusPrefix is how many digits stand before the plus sign of a full code; a short one has
	// fewer, and needs a town to be read.
	plusPrefix = 8
	// plusPairs is how many digits are read two by two; those after them each choose a cell of a 5
	// by 4 grid.
	plusPairs = 10
	// plusDigits is how many digits carry meaning.
	plusDigits = 15
)

// plusCode reads a full Plus Code, with or without the name of a place behind it: the centre of its
// cell. Codes padded with zeros name a region, not a point.
func plusCode(text string) (coordinate, bool) {
	code, _, _ := strings.Cut(text, ",")
	if len(code) < plusPrefix+1 {
		return coordinate{}, false
	}
	prefix, separator, local := code[:plusPrefix], code[plusPrefix], code[plusPrefix+1:]
	local, _, _ = strings.Cut(local, " ")
	digits := strings.ToUpper(prefix + local)
	if !isPlusCode(digits) || len(local) == 1 {
		return coordinate{}, false
	}
	switch separator {
	case '+':
	case ' ':
		// A plus sign pasted bare into a URL reads as a space: then only letters tell a code from a
		// telephone number.
		if len(local) < 2 || !strings.ContainsAny(digits, plusAlphabet[8:]) {
			return coordinate{}, false
		}
	default:
		return coordinate{}, false
	}
	return decodePlusCode(digits[:min(len(digits), plusDigits)]), true
}

func isPlusCode(digits string) bool {
	for i := range len(digits) {
		if strings.IndexByte(plusAlphabet, digits[i]) < 0 {
			return false
		}
	}
	// 180 degrees of latitude are 9 steps of 20, 360 of longitude are 18.
	return strings.IndexByte(plusAlphabet, digits[0]) < 9 && strings.IndexByte(plusAlphabet, digits[1]) < 18
}

func decodePlusCode(digits string) coordinate {
	south, west, height, width := -90.0, -180.0, 400.0, 400.0
	for i := range len(digits) {
		step := strings.IndexByte(plusAlphabet, digits[i])
		switch {
		case i >= plusPairs:
			height, width = height/5, width/4
			south += float64(step/4) * height
			west += float64(step%4) * width
		case i%2 == 0:
			height /= 20
			south += float64(step) * height
		default:
			width /= 20
			west += float64(step) * width
		}
	}
	return coordinate{south + height/2, west + width/2}.rounded()
}

// parsePlusCodeSite reads plus.codes/<code> and plus.codes/map/<code>.
func parsePlusCodeSite(l link) (Point, error) {
	segments := l.segments()
	return firstOf(finder{SourcePath, func() (coordinate, bool) {
		return plusCode(segments[len(segments)-1])
	}})
}
