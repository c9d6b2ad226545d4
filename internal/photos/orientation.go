package photos

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is EXIF's orientation, 1 to 8: how the stored pixels have to be turned and mirrored.
type orientation uint16

const upright orientation = 1

// readJPEGSegments reads the segments before the pixels of a JPEG: its orientation, and whether it
// is progressive. A JPEG with segments that cannot be read counts as progressive, which is what
// decodes at the highest cost.
func readJPEGSegments(content []byte) (o orientation, progressive bool) {
	const startOfFrame, progressiveFrame, app1 = 0xc0, 0xc2, 0xe1
	o = upright
	for rest := content[2:]; len(rest) >= 4 && rest[0] == 0xff; {
		marker, length := rest[1], 2+int(binary.BigEndian.Uint16(rest[2:]))
		switch {
		case marker == 0xff: // fills the space before a marker
			rest = rest[1:]
			continue
		case marker >= startOfFrame && marker <= progressiveFrame:
			return o, marker == progressiveFrame
		case marker < startOfFrame, marker >= 0xd0 && marker <= 0xd9, length > len(rest):
			return o, true
		case marker == app1:
			if tiff, isEXIF := bytes.CutPrefix(rest[4:max(length, 4)], []byte("Exif\x00\x00")); isEXIF {
				o = readOrientation(tiff)
			}
		}
		rest = rest[length:]
	}
	return o, true
}

// readOrientation reads the orientation in the first directory of an EXIF. Damaged EXIF is common
// and says nothing about the picture, so an unreadable one counts as upright.
func readOrientation(tiff []byte) orientation {
	const entrySize, tag, short = 12, 0x0112, 3
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	offset := uint64(order.Uint32(tiff[4:]))
	if offset+2 > uint64(len(tiff)) {
		return upright
	}
	entries := tiff[offset+2:]
	for range order.Uint16(tiff[offset:]) {
		if len(entries) < entrySize {
			break
		}
		value := orientation(order.Uint16(entries[8:]))
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short && value >= 1 && value <= 8 {
			return value
		}
		entries = entries[entrySize:]
	}
	return upright
}

// turn says how to find the stored pixel that is shown at a place: by exchanging its coordinates
// and then counting from the other side.
type turn struct{ swap, fromRight, fromBottom bool }

var turns = map[orientation]turn{
	2: {fromRight: true},
	3: {fromRight: true, fromBottom: true},
	4: {fromBottom: true},
	5: {swap: true},
	6: {swap: true, fromBottom: true},
	7: {swap: true, fromRight: true, fromBottom: true},
	8: {swap: true, fromRight: true},
}

// apply rotates and mirrors the picture to be upright.
func (o orientation) apply(pixels *image.RGBA) *image.RGBA {
	if o == upright {
		return pixels
	}
	t, last := turns[o], pixels.Bounds().Max.Sub(image.Pt(1, 1))
	size := pixels.Bounds().Size()
	if t.swap {
		size.X, size.Y = size.Y, size.X
	}
	turned := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			from := image.Pt(x, y)
			if t.swap {
				from = image.Pt(y, x)
			}
			if t.fromRight {
				from.X = last.X - from.X
			}
			if t.fromBottom {
				from.Y = last.Y - from.Y
			}
			turned.SetRGBA(x, y, pixels.RGBAAt(from.X, from.Y))
		}
	}
	return turned
}
