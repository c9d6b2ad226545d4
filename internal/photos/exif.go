package photos

import "encoding/binary"

// orientation is EXIF's orientation, 1 to 8. Everything but 1 must be rotated or mirrored for
// display.
type orientation uint16

const upright orientation = 1

const (
	exifHeader = "Exif\x00\x00"

	tagOrientation = 0x0112
	typeShort      = 3
	ifdEntrySize   = 12
)

// readOrientation reads the orientation after the EXIF header. Damaged EXIF is common and says
// nothing about the picture, so an unreadable one counts as upright.
func readOrientation(tiff []byte) orientation {
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return upright
	}
	offset := uint64(order.Uint32(tiff[4:]))
	if offset+2 > uint64(len(tiff)) {
		return upright
	}
	entries := tiff[offset+2:]
	for range order.Uint16(tiff[offset:]) {
		if len(entries) < ifdEntrySize {
			return upright
		}
		if order.Uint16(entries) == tagOrientation {
			return orientationValue(order, entries)
		}
		entries = entries[ifdEntrySize:]
	}
	return upright
}

func orientationValue(order binary.ByteOrder, entry []byte) orientation {
	value := orientation(order.Uint16(entry[8:]))
	if order.Uint16(entry[2:]) != typeShort || order.Uint32(entry[4:]) != 1 || value < upright || value > 8 {
		return upright
	}
	return value
}

// exifPayload is the smallest EXIF with an orientation.
func exifPayload(o orientation) []byte {
	payload := []byte(exifHeader + "MM\x00*")
	payload = binary.BigEndian.AppendUint32(payload, 8) // offset of the only directory
	payload = binary.BigEndian.AppendUint16(payload, 1) // its number of entries
	payload = binary.BigEndian.AppendUint16(payload, tagOrientation)
	payload = binary.BigEndian.AppendUint16(payload, typeShort)
	payload = binary.BigEndian.AppendUint32(payload, 1) // number of values
	payload = binary.BigEndian.AppendUint16(payload, uint16(o))
	payload = binary.BigEndian.AppendUint16(payload, 0) // padding of the entry
	return binary.BigEndian.AppendUint32(payload, 0)    // no further directory
}
