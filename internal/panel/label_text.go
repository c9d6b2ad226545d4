package panel

import (
	"strconv"
	"strings"
	"unicode"

	"despacho/internal/orders"
)

// labelTexts is how the texts about a label's recipient are set: the size of the letters, and the
// most lines that each text takes, after which it is cut.
type labelTexts struct {
	size                                    labelSize
	name, address, place, reference, remark int
}

// labelSize is a size of the letters in points; label.css has a class for each.
type labelSize float64

var (
	// labelSizes are tried one after the other. The last one is the smallest that is readable on paper
	// from a common thermal printer.
	labelSizes = []labelSize{15, 14, 13, 12, 11, 10, 9, 8}
	// cutSizes are those of texts that have no room even in the smallest letters.
	cutSizes = []labelSize{11, 8}
)

const (
	// labelTextWidth and labelTextHeight are the room for the texts on the smaller of the papers, in
	// points. Of the width it leaves out what a printer's font may be wider than emWidth says.
	labelTextWidth, labelTextHeight = 94 / pointLength * .95, 55 / pointLength
	// pointLength is a point in millimetres.
	pointLength = 25.4 / 72
	// labelLine is the height of a line, labelName, labelSmall and labelGap are the name's letters,
	// those of the reference and the notes, and the space above a text, in letters of the address.
	labelLine, labelName, labelSmall, labelGap = 1.15, 1.15, .9, .25
	// labelBold is how much wider bold letters are.
	labelBold = 1.08
	// fewestLines is what is left of a name, of a reference and of notes where an address needs the
	// room.
	fewestLines = 2
)

// Class is the size's class in the style sheet.
func (t labelTexts) Class() string { return "size-" + strconv.Itoa(int(t.size)) }

// The classes of how many lines a text takes at most.
func (t labelTexts) NameClass() string      { return linesClass(t.name) }
func (t labelTexts) AddressClass() string   { return linesClass(t.address) }
func (t labelTexts) PlaceClass() string     { return linesClass(t.place) }
func (t labelTexts) ReferenceClass() string { return linesClass(t.reference) }
func (t labelTexts) NotesClass() string     { return linesClass(t.remark) }

func linesClass(lines int) string { return "lines-" + strconv.Itoa(lines) }

// setLabelTexts sets the texts in the largest letters in which all of them have room. Of texts that
// are too long for that, the notes are cut first and the address last.
func setLabelTexts(order *orders.View, destination string) (set labelTexts) {
	for _, size := range labelSizes {
		if set = wholeTexts(order, destination, size); set.height() <= labelTextHeight {
			return set
		}
	}
	for _, size := range cutSizes {
		if set = wholeTexts(order, destination, size); set.giveUp(&set.remark) {
			return set
		}
	}
	_ = set.giveUp(&set.reference) || set.giveUp(&set.name) || set.giveUp(&set.address)
	return set
}

func wholeTexts(order *orders.View, destination string, size labelSize) labelTexts {
	set := labelTexts{
		size: size, name: linesOf(order.RecipientName, size*labelName*labelBold), address: linesOf(order.DeliveryAddress, size),
		place: linesOf(destination, size*labelBold),
	}
	if order.DeliveryReference != nil {
		set.reference = linesOf("Ref. "+*order.DeliveryReference, size*labelSmall)
	}
	if order.Notes != nil {
		set.remark = linesOf("Nota: "+*order.Notes, size*labelSmall)
	}
	return set
}

// giveUp takes lines from a text until the texts have room.
func (t *labelTexts) giveUp(lines *int) (fit bool) {
	for t.height() > labelTextHeight && *lines > fewestLines {
		*lines--
	}
	return t.height() <= labelTextHeight
}

// height is how high the texts are, with a line for the phone.
func (t *labelTexts) height() float64 {
	lines := float64(t.name)*labelName + float64(1+t.address+t.place) + float64(t.reference+t.remark)*labelSmall
	return float64(t.size) * (lines*labelLine + 3*labelGap)
}

// linesOf is how many lines a text takes in letters of a size.
func linesOf(text string, size labelSize) int {
	room := labelTextWidth / float64(size)
	lines, used := 1, 0.0
	for _, word := range strings.Fields(text) {
		width := emWidth(word)
		if used > 0 && used+emWidth(" ")+width > room {
			lines, used = lines+1, 0
		}
		if used > 0 {
			used += emWidth(" ")
		}
		used += width
		for ; used > room; used -= room { // a word that is longer than a line is broken
			lines++
		}
	}
	return lines
}

// emWidth is about how wide a text is, in heights of its letters.
func emWidth(text string) (width float64) {
	for _, r := range text {
		switch {
		case strings.ContainsRune(" .,;:'|!/\\-()[]ijlftrI", r):
			width += .32
		case strings.ContainsRune("mwMW@%", r):
			width += .92
		case unicode.IsLower(r), unicode.IsDigit(r):
			width += .56
		case unicode.IsUpper(r):
			width += .7
		default:
			width++
		}
	}
	return width
}
