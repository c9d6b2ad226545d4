package photos

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/jpeg"
	"slices"
)

const jpegSignature = "\xff\xd8\xff"

// The markers that the reader distinguishes.
const (
	markerSOF0  = 0xc0 // baseline
	markerSOF1  = 0xc1 // extended sequential
	markerSOF2  = 0xc2 // progressive
	markerDHT   = 0xc4
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP1  = 0xe1
	markerAPP2  = 0xe2
	markerAPP14 = 0xee
	markerAPP15 = 0xef
	markerCOM   = 0xfe
)

// The prefixes of the application segments that are kept.
const (
	jfifHeader  = "JFIF\x00"
	iccHeader   = "ICC_PROFILE\x00"
	adobeHeader = "Adobe"

	jfifSize  = 14 // without its thumbnail
	adobeSize = 12
)

// maxScannedPixels is ten scans, as progressive JPEG encoders write, of the largest photo. A scan
// can be as short as a hundred bytes and still visit every block, so thousands of them would use a
// processor for minutes.
const maxScannedPixels = 10 * maxPhotoPixels

// jpegReader reads a JPEG segment by segment and keeps what is needed to show the picture.
type jpegReader struct {
	rest        []byte // not read yet
	jfif        []byte // the segment that must be the first, if there is one
	kept        []byte // every other segment, and the scans
	frame       jpegFrame
	scans       int
	adobe       bool
	orientation orientation // 0 until the first EXIF segment, the only one used
}

func readJPEG(content []byte) (picture, error) {
	w := jpegReader{rest: content[2:], kept: make([]byte, 0, len(content))}
	for {
		marker, ok := w.nextMarker()
		if !ok {
			return picture{}, invalidPhoto("JPEG without an end")
		}
		if marker == markerEOI {
			return w.picture()
		}
		if err := w.segment(marker); err != nil {
			return picture{}, err
		}
	}
}

// nextMarker skips fill bytes, and the stray bytes and restart markers that decoders tolerate
// between segments.
func (w *jpegReader) nextMarker() (marker byte, ok bool) {
	for {
		start := bytes.IndexByte(w.rest, 0xff)
		if start < 0 || start+1 == len(w.rest) {
			return 0, false
		}
		marker, w.rest = w.rest[start+1], w.rest[start+1:]
		if marker == 0xff { // the byte before was fill
			continue
		}
		w.rest = w.rest[1:]
		if marker != 0 && !isRestart(marker) {
			return marker, true
		}
	}
}

func isRestart(marker byte) bool { return markerRST0 <= marker && marker <= markerRST7 }

func (w *jpegReader) segment(marker byte) error {
	payload, ok := w.payload()
	if !ok {
		return invalidPhoto("JPEG segment cut short")
	}
	switch marker {
	case markerSOF0, markerSOF1, markerSOF2:
		if err := w.readFrame(marker, payload); err != nil {
			return err
		}
		w.keep(marker, payload)
	case markerDHT, markerDQT, markerDRI:
		w.keep(marker, payload)
	case markerSOS:
		if w.scans++; w.scans*w.frame.width*w.frame.height > maxScannedPixels {
			return fmt.Errorf("%w: %d scans of %d x %d", ErrTooManyPixels, w.scans, w.frame.width, w.frame.height)
		}
		w.keep(marker, payload)
		w.keepScan()
	case markerCOM:
	default:
		if marker < markerAPP0 || marker > markerAPP15 {
			return invalidPhoto("JPEG of an unusual kind")
		}
		w.application(marker, payload)
	}
	return nil
}

// payload reads a segment's length and returns its content.
func (w *jpegReader) payload() (payload []byte, ok bool) {
	if len(w.rest) < 2 {
		return nil, false
	}
	length := int(binary.BigEndian.Uint16(w.rest))
	if length < 2 || length > len(w.rest) {
		return nil, false
	}
	payload, w.rest = w.rest[2:length], w.rest[length:]
	return payload, true
}

// application keeps the segments that affect colours, and the orientation. All others are dropped:
// EXIF, XMP, IPTC, previews and vendors' own.
func (w *jpegReader) application(marker byte, payload []byte) {
	switch {
	case marker == markerAPP0 && bytes.HasPrefix(payload, []byte(jfifHeader)) && len(payload) >= jfifSize:
		if w.jfif == nil {
			withoutThumbnail := append(slices.Clone(payload[:jfifSize-2]), 0, 0)
			w.jfif = appendSegment(nil, markerAPP0, withoutThumbnail)
		}
	case marker == markerAPP1 && bytes.HasPrefix(payload, []byte(exifHeader)) && w.orientation == 0:
		w.orientation = readOrientation(payload[len(exifHeader):])
	case marker == markerAPP2 && bytes.HasPrefix(payload, []byte(iccHeader)):
		w.keep(marker, payload)
	case marker == markerAPP14 && bytes.HasPrefix(payload, []byte(adobeHeader)) && len(payload) >= adobeSize:
		w.adobe = true
		w.keep(marker, payload[:adobeSize])
	}
}

// keepScan keeps the entropy-coded data, up to the next marker that is not a restart.
func (w *jpegReader) keepScan() {
	for {
		end := bytes.IndexByte(w.rest, 0xff)
		if end < 0 || end+1 == len(w.rest) {
			w.rest = nil
			return
		}
		w.kept = append(w.kept, w.rest[:end]...)
		w.rest = w.rest[end:]
		switch next := w.rest[1]; {
		case next == 0 || isRestart(next):
			w.kept = append(w.kept, w.rest[:2]...)
			w.rest = w.rest[2:]
		case next == 0xff: // a fill byte
			w.rest = w.rest[1:]
		default:
			return
		}
	}
}

func (w *jpegReader) keep(marker byte, payload []byte) {
	w.kept = appendSegment(w.kept, marker, payload)
}

func appendSegment(segments []byte, marker byte, payload []byte) []byte {
	segments = append(segments, 0xff, marker)
	segments = binary.BigEndian.AppendUint16(segments, uint16(2+len(payload)))
	return append(segments, payload...)
}

// picture rebuilds the JPEG from the kept segments.
func (w *jpegReader) picture() (picture, error) {
	if w.frame.width == 0 || w.scans == 0 {
		return picture{}, invalidPhoto("JPEG without a picture")
	}
	var exif []byte
	if w.orientation > upright {
		exif = appendSegment(nil, markerAPP1, exifPayload(w.orientation))
	}
	return picture{
		content:      slices.Concat([]byte{0xff, markerSOI}, w.jfif, exif, w.kept, []byte{0xff, markerEOI}),
		format:       JPEG,
		width:        w.frame.width,
		height:       w.frame.height,
		orientation:  max(w.orientation, upright),
		decodedBytes: w.frame.decodedBytes(w.adobe),
		decode:       jpeg.Decode,
	}, nil
}
