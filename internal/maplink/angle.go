package maplink

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The marks behind degrees, minutes and seconds, as keyboards and applications write them.
const (
	degreeMarks = "°º˚"
	minuteMarks = "'′’‘´`"
	secondMarks = `"″”“`
)

// angle is a latitude or a longitude with a degree sign or a hemisphere, such as 12°02'47.0"S.
type angle struct {
	degrees    float64
	hemisphere rune // N, S, E, W, or 0
	marked     bool // it had a degree sign
	fractional bool
}

// anglePair reads a latitude and a longitude in degrees, minutes and seconds. Hemispheres, when
// given, say which is which.
func anglePair(text string) (coordinate, bool) {
	first, rest, ok := scanAngle(text)
	if !ok {
		return coordinate{}, false
	}
	rest, _ = cutSeparator(rest)
	second, rest, ok := scanAngle(rest)
	if !ok || !endsPair(rest) || !first.isUnambiguous() || !second.isUnambiguous() {
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

// isUnambiguous is false for a block of a street grid such as "12 S".
func (a angle) isUnambiguous() bool { return a.marked || a.hemisphere != 0 && a.fractional }
func (a angle) isLatitude() bool    { return a.hemisphere == 'N' || a.hemisphere == 'S' }
func (a angle) isLongitude() bool   { return a.hemisphere == 'E' || a.hemisphere == 'W' }

func scanAngle(text string) (a angle, rest string, ok bool) {
	a.hemisphere, rest = cutHemisphere(text)
	leading := a.hemisphere != 0
	whole, rest, ok := scanNumber(rest)
	if !ok {
		return a, text, false
	}
	a.fractional = whole.fractional
	rest, a.marked = cutMark(rest, degreeMarks)
	magnitude := math.Abs(whole.value)
	if a.marked {
		var minutes float64
		minutes, rest, ok = scanMinutes(rest)
		if !ok {
			return a, text, false
		}
		magnitude += minutes / 60
	}
	if !leading {
		a.hemisphere, rest = cutHemisphere(rest)
	}
	if whole.negative || a.hemisphere == 'S' || a.hemisphere == 'W' {
		magnitude = -magnitude
	}
	a.degrees = magnitude
	return a, rest, true
}

// scanMinutes reads the optional minutes and seconds after a degree sign, as minutes.
func scanMinutes(text string) (minutes float64, rest string, ok bool) {
	n, after, found := scanNumber(text)
	if !found {
		return 0, text, true
	}
	after, marked := cutMark(after, minuteMarks)
	if !marked {
		return 0, text, true // the number belongs to the other angle
	}
	minutes, text = n.value, after
	if n, after, found = scanNumber(text); found {
		if after, marked = cutSecondMark(after); marked {
			minutes, text = minutes+n.value/60, after
			if n.negative || n.value >= 60 {
				return 0, text, false
			}
		}
	}
	return minutes, text, 0 <= minutes && minutes < 60
}

// cutSecondMark removes the mark after seconds. It may be missing at the end, or before a
// hemisphere.
func cutSecondMark(text string) (rest string, found bool) {
	if rest, found = cutMark(text, secondMarks); found {
		return rest, true
	}
	if rest, found = cutMark(text, minuteMarks); found { // two minute marks make one of seconds
		return cutMark(rest, minuteMarks)
	}
	text = strings.TrimLeftFunc(text, invisible)
	hemisphere, _ := cutHemisphere(text)
	return text, text == "" || text[0] == ',' || hemisphere != 0
}

func cutMark(text, marks string) (rest string, found bool) {
	text = strings.TrimLeftFunc(text, invisible)
	mark, width := utf8.DecodeRuneInString(text)
	if width == 0 || !strings.ContainsRune(marks, mark) {
		return text, false
	}
	return text[width:], true
}

// cutHemisphere removes a hemisphere letter; O is West in Spanish.
func cutHemisphere(text string) (hemisphere rune, rest string) {
	text = strings.TrimLeftFunc(text, invisible)
	if text == "" {
		return 0, text
	}
	if next, _ := utf8.DecodeRuneInString(text[1:]); unicode.IsLetter(next) {
		return 0, text // the first letter of a word
	}
	switch text[0] {
	case 'N', 'n':
		return 'N', text[1:]
	case 'S', 's':
		return 'S', text[1:]
	case 'E', 'e':
		return 'E', text[1:]
	case 'W', 'w', 'O', 'o':
		return 'W', text[1:]
	default:
		return 0, text
	}
}
