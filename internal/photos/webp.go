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

// webpReader reads a WebP chunk by chunk and keeps those of the picture; EXIF, XMP and unknown
// chunks are dropped.
type webpReader struct {
	rest                         []byte
	extended, icc, alpha, pixels []byte // the payloads
	lossless                     bool
	width, height                int
}

func readWebP(content []byte) (picture, error) {
	length := uint64(binary.LittleEndian.Uint32(content[4:]))
	if length < 4 || length+8 > uint64(len(content)) {
		return picture{}, invalidPhoto("WebP cut short")
	}
	w := webpReader{rest: content[webpHeaderSize : length+8]}
	for w.pixels == nil {
		kind, payload, ok := w.nextChunk()
		if !ok {
			return picture{}, invalidPhoto("WebP cut short")
		}
		if err := w.chunk(kind, payload); err != nil {
			return picture{}, err
		}
	}
	return w.picture(), nil
}

func (w *webpReader) nextChunk() (kind string, payload []byte, ok bool) {
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
	w.rest = w.rest[min(length+length%2, uint64(len(w.rest))):] // chunks start at even offsets
	return kind, payload, true
}

func (w *webpReader) chunk(kind string, payload []byte) error {
	switch kind {
	case "VP8X":
		return w.readExtended(payload)
	case "ICCP":
		if w.extended != nil && w.icc == nil {
			w.icc = payload
		}
	case "ALPH":
		if w.extended == nil || w.alpha != nil {
			return invalidPhoto("WebP with a stray transparency")
		}
		w.alpha = payload
	case "VP8 ":
		return w.readLossy(payload)
	case "VP8L":
		return w.readLossless(payload)
	case "ANIM", "ANMF":
		return invalidPhoto("WebP animation")
	}
	return nil
}

func (w *webpReader) readExtended(payload []byte) error {
	if w.extended != nil || len(payload) != extendedSize {
		return invalidPhoto("WebP with a bad header")
	}
	if payload[0]&webpAnimation != 0 {
		return invalidPhoto("WebP animation")
	}
	w.extended = slices.Clone(payload)
	return checkSides(1+littleEndian24(payload[4:]), 1+littleEndian24(payload[7:]))
}

func (w *webpReader) readLossy(payload []byte) error {
	if len(payload) < lossySize || string(payload[3:6]) != lossyStart {
		return invalidPhoto("WebP with a bad header")
	}
	const sideBits = 1<<14 - 1 // the upper two bits ask for upscaling, which is not used
	w.pixels = payload
	w.width = int(binary.LittleEndian.Uint16(payload[6:])) & sideBits
	w.height = int(binary.LittleEndian.Uint16(payload[8:])) & sideBits
	return checkSides(w.width, w.height)
}

func (w *webpReader) readLossless(payload []byte) error {
	if len(payload) < losslessSize || payload[0] != losslessStart {
		return invalidPhoto("WebP with a bad header")
	}
	const sideBits = 1<<14 - 1
	sides := binary.LittleEndian.Uint32(payload[1:])
	w.pixels, w.lossless = payload, true
	w.width = 1 + int(sides&sideBits)
	w.height = 1 + int(sides>>14&sideBits)
	return checkSides(w.width, w.height)
}

func littleEndian24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// picture rebuilds the WebP from the kept chunks.
func (w *webpReader) picture() picture {
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

// decodedBytes is the most that the decoder allocates: one and a half bytes per lossy pixel in
// whole macroblocks, and for transparency as much as a lossless picture, which is how it is
// compressed.
func (w *webpReader) decodedBytes() int64 {
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

// losslessDecodedBytes counts four bytes per pixel twice, to undo a palette, and one for the tables
// of the other transforms. Huffman codes are added, in at most as many groups as the decoder
// accepts: a group has lookup tables, and trees that grow by at most a fixed number of bytes per
// byte of their description.
func losslessDecodedBytes(pixels int64, compressed int) int64 {
	const groups, lookUpTables, trees, treeBytesPerByte = 2600, 2_700, 50_200, 384
	return 9*pixels + groups*lookUpTables + min(groups*trees, treeBytesPerByte*int64(compressed))
}
