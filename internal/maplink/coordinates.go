package maplink

import (
	"regexp"
	"strings"
)

// coordinates reads a text that is a pair of coordinates with at most a label: decimal degrees,
// degrees with minutes and seconds, or a full Plus Code. Addresses and lists of pairs do not count.
func coordinates(text string) (coordinate, bool) {
	text = strings.TrimFunc(text, invisible)
	if text == "" {
		return coordinate{}, false
	}
	if strings.Contains(text, "%") { // encoded twice
		text = unescape(text, true)
	}
	if rest, ok := cutPrefixFold(text, "loc:"); ok {
		text = strings.TrimSpace(rest)
	}
	for _, read := range []func(string) (coordinate, bool){decimalPair, anglePair, plusCode, labelledPair} {
		if found, ok := read(text); ok {
			return found, found.isSet()
		}
	}
	return coordinate{}, false
}

// decimalPair reads "lat,lng" in decimal degrees.
func decimalPair(text string) (coordinate, bool) {
	lat, rest, ok := scanNumber(text)
	if !ok {
		return coordinate{}, false
	}
	rest, separated := cutSeparator(rest)
	lng, rest, ok := scanNumber(rest)
	if !ok {
		return coordinate{}, false
	}
	// "-12.04 -77.04" is a pair; "12 34" is more likely a house number.
	if !separated && !(lat.fractional && lng.fractional) {
		return coordinate{}, false
	}
	return coordinate{lat.value, lng.value}, endsPair(rest)
}

// labelledPair reads the form "Name @lat,lng".
func labelledPair(text string) (coordinate, bool) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return coordinate{}, false
	}
	return decimalPair(text[at+1:])
}

// cutSeparator removes the separator of a pair, and reports whether it was more than space.
func cutSeparator(text string) (rest string, separated bool) {
	text = strings.TrimLeftFunc(text, invisible)
	if text != "" && (text[0] == ',' || text[0] == ';') {
		return text[1:], true
	}
	return text, false
}

// endsPair reports whether rest may follow a pair: nothing, "(Name)", or a zoom such as ",17z".
// Anything else, above all a third number, makes it a list or an address.
func endsPair(rest string) bool {
	rest = strings.TrimFunc(rest, invisible)
	if rest == "" || rest[0] == '(' {
		return true
	}
	if rest[0] != ',' {
		return false
	}
	_, unit, ok := scanNumber(rest[1:])
	return ok && unit == "z"
}

type number struct {
	value      float64
	fractional bool // written with a decimal point
}

// longestNumber leaves a margin: the longest number in a real link has 17 digits, a sign and a
// point.
const longestNumber = 32

var numberAtStart = regexp.MustCompile(`^` + gapPattern + `([-+−]?)(` + unsignedPattern + `)`)

// scanNumber reads a decimal number at the start of the text, without exponents or infinities.
func scanNumber(text string) (n number, rest string, ok bool) {
	groups := numberAtStart.FindStringSubmatch(text)
	if groups == nil || len(groups[2]) > longestNumber {
		return number{}, text, false
	}
	n = number{value: floatOf(groups[2]), fractional: strings.Contains(groups[2], ".")}
	if n.value != 0 && groups[1] != "" && groups[1] != "+" {
		n.value = -n.value
	}
	return n, text[len(groups[0]):], true
}

// numbers reads a latitude and a longitude from separate texts.
func numbers(latText, lngText string) (coordinate, bool) {
	lat, latRest, latOK := scanNumber(latText)
	lng, lngRest, lngOK := scanNumber(lngText)
	found := coordinate{lat.value, lng.value}
	whole := strings.TrimSpace(latRest) == "" && strings.TrimSpace(lngRest) == ""
	return found, latOK && lngOK && whole && found.isSet()
}
