package photos

import (
	"encoding/binary"
	"slices"

	"golang.org/x/image/webp"
)

const (
	webpHeaderSize      = 12 // RIFF, the length of all that follows, WEBP
	webpChunkHeaderSize = 8

	extendedSize  = 10 // of VP8X
	lossySize     = 10 // of the start of VP8
	losslessSize  = 5  // of the start of VP8L
	lossyStart    = "\x9d\x01\x2a"
	losslessStart = 0x2f
)

// The flags of VP8X that a clean photo may have.
const (
	webpAnimation = 1 << 1
	webpAlpha     = 1 << 4
	webpICC       = 1 << 5
)

func isWebP(content []byte) bool {
	return len(content) >= webpHeaderSize && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP"
}

// webpWalk goes through a WebP chunk by chunk and keeps those that make the picture; EXIF, XMP and
// unknown chunks are dropped.
type webpWalk struct {
	rest                         []byte
	extended, icc, alpha, pixels []byte // the payloads
	lossless                     bool
	width, height                int
}

func readWebP(content []byte) (picture, error) {
	length := uint64(binary.LittleEndian.Uint32(content[4:]))
	if length < 4 || length+8 > uint64(len(content)) {
		return picture{}, broken("WebP cut short")
	}
	w := webpWalk{rest: content[webpHeaderSize : length+8]}
	for w.pixels == nil {
		kind, payload, ok := w.nextChunk()
		if !ok {
			return picture{}, broken("WebP cut short")
		}
		if err := w.chunk(kind, payload); err != nil {
			return picture{}, err
		}
	}
	return w.picture(), nil
}

func (w *webpWalk) nextChunk() (kind string, payload []byte, ok bool) {
	if len(w.rest) < webpChunkHeaderSize {
		return "", nil, false
	}
	kind = string(w.rest[:4])
	length := uint64(binary.LittleEndian.Uint32(w.rest[4:]))
	w.rest = w.rest[webpChunkHeaderSize:]
	if length > uint64(len(w.rest)) {
		return "", nil, false
	}
	payload = w.rest[:length]
	w.rest = w.rest[min(length+length%2, uint64(len(w.rest))):] // chunks start at even places
	return kind, payload, true
}

func (w *webpWalk) chunk(kind string, payload []byte) error {
	switch kind {
	case "VP8X":
		return w.readExtended(payload)
	case "ICCP":
		if w.extended != nil && w.icc == nil {
			w.icc = payload
		}
	case "ALPH":
		if w.extended == nil || w.alpha != nil {
			return broken("WebP with a stray transparency")
		}
		w.alpha = payload
	case "VP8 ":
		return w.readLossy(payload)
	case "VP8L":
		return w.readLossless(payload)
	case "ANIM", "ANMF":
		return broken("WebP animation")
	}
	return nil
}

func (w *webpWalk) readExtended(payload []byte) error {
	if w.extended != nil || len(payload) != extendedSize {
		return broken("WebP with a bad header")
	}
	if payload[0]&webpAnimation != 0 {
		return broken("WebP animation")
	}
	w.extended = slices.Clone(payload)
	return checkSides(1+littleEndian24(payload[4:]), 1+littleEndian24(payload[7:]))
}

func (w *webpWalk) readLossy(payload []byte) error {
	if len(payload) < lossySize || string(payload[3:6]) != lossyStart {
		return broken("WebP with a bad header")
	}
	const sideBits = 1<<14 - 1 // the other two ask for enlargement, which nobody does
	w.pixels = payload
	w.width = int(binary.LittleEndian.Uint16(payload[6:])) & sideBits
	w.height = int(binary.LittleEndian.Uint16(payload[8:])) & sideBits
	return checkSides(w.width, w.height)
}

func (w *webpWalk) readLossless(payload []byte) error {
	if len(payload) < losslessSize || payload[0] != losslessStart {
		return broken("WebP with a bad header")
	}
	const sideBits = 1<<14 - 1
	sides := binary.LittleEndian.Uint32(payload[1:])
	w.pixels, w.lossless = payload, true
	w.width = 1 + int(sides&sideBits)
	w.height = 1 + int(sides>>14&sideBits)
	return checkSides(w.width, w.height)
}

func littleEndian24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// picture writes the WebP anew from what was kept.
func (w *webpWalk) picture() picture {
	content := []byte("RIFF\x00\x00\x00\x00WEBP")
	if w.extended != nil {
		w.extended[0] &= webpAlpha
		if w.icc != nil {
			w.extended[0] |= webpICC
		}
		clear(w.extended[1:4]) // reserved
		content = appendWebPChunk(content, "VP8X", w.extended)
	}
	if w.icc != nil {
		content = appendWebPChunk(content, "ICCP", w.icc)
	}
	if w.alpha != nil {
		content = appendWebPChunk(content, "ALPH", w.alpha)
	}
	kind := "VP8 "
	if w.lossless {
		kind = "VP8L"
	}
	content = appendWebPChunk(content, kind, w.pixels)
	binary.LittleEndian.PutUint32(content[4:], uint32(len(content)-8))
	return picture{
		content:      content,
		format:       WebP,
		width:        w.width,
		height:       w.height,
		orientation:  upright,
		decodedBytes: w.decodedBytes(),
		decode:       webp.Decode,
	}
}

func appendWebPChunk(chunks []byte, kind string, payload []byte) []byte {
	chunks = slices.Grow(chunks, webpChunkHeaderSize+len(payload)+1)
	chunks = append(chunks, kind...)
	chunks = binary.LittleEndian.AppendUint32(chunks, uint32(len(payload)))
	chunks = append(chunks, payload...)
	if len(payload)%2 == 1 {
		chunks = append(chunks, 0)
	}
	return chunks
}

// decodedBytes is the most that the decoder allocates: for lossy pixels a byte and a half each in
// whole macroblocks, and as much as a lossless picture for transparency, which is compressed as
// one.
func (w *webpWalk) decodedBytes() int64 {
	pixels := int64(w.width * w.height)
	if w.lossless {
		return losslessDecodedBytes(pixels, len(w.pixels))
	}
	macroblocks := int64(divideUp(w.width, 16) * divideUp(w.height, 16))
	total := macroblocks*(256*3/2+16) + int64(len(w.pixels))
	if w.alpha != nil {
		total += pixels + losslessDecodedBytes(pixels, len(w.alpha))
	}
	return total
}

// losslessDecodedBytes counts four bytes for a pixel twice, to undo a palette, and one for the
// tables of the other transforms. Huffman codes come on top, in at most as many groups as the
// decoder admits: a group has look-up tables, and trees that cannot grow by more than so many bytes
// for each byte that describes them.
func losslessDecodedBytes(pixels int64, compressed int) int64 {
	const groups, lookUpTables, trees, treeBytesPerByte = 2600, 2_700, 50_200, 384
	return 9*pixels + groups*lookUpTables + min(groups*trees, treeBytesPerByte*int64(compressed))
}
