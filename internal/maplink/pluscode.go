package maplink

import "strings"

const (
	plusAlphabet = "23456789CFGHJMPQRVWX"
	// plusPrefix is the number of digits before the plus sign of a full code; a short code has
	// fewer, and needs a town.
	plusPrefix = 8
	// plusPairs is the number of digits read in pairs; each later digit is a cell of a 5 by 4 grid.
	plusPairs = 10
	// plusDigits is the number of significant digits.
	plusDigits = 15
)

// plusCode reads a full Plus Code, with or without a place name after it, and returns the centre of
// its cell. Codes padded with zeros are regions, not points.
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
		// An unescaped plus sign in a URL reads as a space: then only letters distinguish a code
		// from a telephone number.
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
