package maplink

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The parts of the pattern of an angle, such as 12°02'47.0"S, with the marks as keyboards and
// applications write them. The mark after seconds may be two minute marks, or missing where the
// number cannot belong to the other angle.
const (
	gapPattern        = `[\s\p{Z}\p{Cc}\p{Cf}]*`
	unsignedPattern   = `(?:\d+\.?\d*|\.\d+)`
	hemispherePattern = `([NSEWOnsewo])`
	minuteMark        = "['′’‘´`]"
	secondPattern     = gapPattern + `(` + unsignedPattern + `)` + gapPattern
	secondsPattern    = `(?:` + secondPattern +
		`(?:["″”“]|` + minuteMark + gapPattern + minuteMark + `)||` + secondPattern + `)`
	minutesPattern = `(?:` + gapPattern + `(` + unsignedPattern + `)` + gapPattern + minuteMark + secondsPattern + `)?`
	degreesPattern = `([-+−]?)(` + unsignedPattern + `)(?:` + gapPattern + `([°º˚])` + minutesPattern + `)?`
	anglePattern   = `(?:` + hemispherePattern + gapPattern + degreesPattern + `|` +
		degreesPattern + gapPattern + hemispherePattern + `?)`
	// endPattern is what may follow a pair, as endsPair says.
	endPattern = gapPattern + `(?:\(.*|,` + gapPattern + `[-+−]?` + unsignedPattern + `z` + gapPattern + `)?$`
	// angleGroups are the groups of an angle: those of either order of degrees and hemisphere.
	angleGroups = 14
)

var angles = regexp.MustCompile(`(?s)^` + gapPattern + anglePattern + gapPattern + `[,;]?` +
	gapPattern + anglePattern + endPattern)

// angle is a latitude or a longitude with a degree sign or a hemisphere.
type angle struct {
	degrees    float64
	hemisphere byte // N, S, E, W, or 0
	marked     bool // it had a degree sign
	fractional bool
}

// anglePair reads a latitude and a longitude in degrees, minutes and seconds. Hemispheres, when
// given, say which is which.
func anglePair(text string) (coordinate, bool) {
	at := angles.FindStringSubmatchIndex(text)
	if at == nil {
		return coordinate{}, false
	}
	groups := make([]string, 2*angleGroups)
	for i := range groups {
		if start, end := at[2*i+2], at[2*i+3]; start >= 0 {
			if groups[i] = text[start:end]; splitsNumber(text, start, end) {
				return coordinate{}, false
			}
		}
	}
	first, ok := readAngle(groups[:angleGroups])
	second, secondOK := readAngle(groups[angleGroups:])
	if !ok || !secondOK || first.marked != second.marked || !first.isUnambiguous() || !second.isUnambiguous() {
		return coordinate{}, false
	}
	if first.isLongitude() || second.isLatitude() {
		first, second = second, first
	}
	if first.isLongitude() || second.isLatitude() {
		return coordinate{}, false // two of the same kind
	}
	return coordinate{first.degrees, second.degrees}.rounded(), true
}

// splitsNumber reports whether a group is a part of a longer number.
func splitsNumber(text string, start, end int) bool {
	const inNumber = "0123456789."
	return end > start && strings.IndexByte(inNumber, text[end-1]) >= 0 && end < len(text) &&
		strings.IndexByte(inNumber, text[end]) >= 0
}

// isUnambiguous is false for a block of a street grid such as "12 S".
func (a angle) isUnambiguous() bool { return a.marked || a.hemisphere != 0 && a.fractional }
func (a angle) isLatitude() bool    { return a.hemisphere == 'N' || a.hemisphere == 'S' }
func (a angle) isLongitude() bool   { return a.hemisphere == 'E' || a.hemisphere == 'W' }

// readAngle reads the groups of anglePattern. O is West in Spanish.
func readAngle(groups []string) (a angle, ok bool) {
	hemisphere, parts := groups[0], groups[1:7]
	if hemisphere == "" {
		hemisphere, parts = groups[13], groups[7:13]
	}
	if hemisphere != "" {
		a.hemisphere = strings.Replace(strings.ToUpper(hemisphere), "O", "W", 1)[0]
	}
	sign, whole := parts[0], parts[1]
	a.marked, a.fractional = parts[2] != "", strings.Contains(whole, ".")
	minutes, seconds := floatOf(parts[3]), floatOf(parts[4]+parts[5])
	a.degrees = floatOf(whole) + (minutes+seconds/60)/60
	if sign == "-" || sign == "−" || a.hemisphere == 'S' || a.hemisphere == 'W' {
		a.degrees = -a.degrees
	}
	return a, len(whole) <= longestNumber && minutes < 60 && seconds < 60 && !math.IsInf(a.degrees, 0)
}

// floatOf is the value of unsigned digits; none are 0.
func floatOf(digits string) float64 {
	value, _ := strconv.ParseFloat(digits, 64)
	return value
}
