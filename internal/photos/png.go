package photos

import (
	"encoding/binary"
	"image/png"
)

const (
	pngSignature     = "\x89PNG\r\n\x1a\n"
	pngChunkOverhead = 12 // length, type and checksum

	pngHeaderStart = "\x00\x00\x00\x0dIHDR" // the header is always the first chunk, with this length
	pngHeaderSize  = 13

	pngPaletted = 3 // a colour type
)

// pngKept are the chunks that affect how the picture looks. All others are dropped: eXIf, texts,
// time, animation and private chunks.
var pngKept = map[string]bool{
	"IHDR": true, "PLTE": true, "tRNS": true, "IDAT": true, "IEND": true,
	"gAMA": true, "cHRM": true, "sRGB": true, "iCCP": true, "cICP": true, "mDCV": true, "cLLI": true,
	"sBIT": true, "bKGD": true, "pHYs": true,
}

func readPNG(content []byte) (picture, error) {
	p, err := readPNGHeader(content[len(pngSignature):])
	if err != nil {
		return picture{}, err
	}
	p.content = append(make([]byte, 0, len(content)), pngSignature...)
	for rest := content[len(pngSignature):]; len(rest) >= pngChunkOverhead; {
		size := uint64(binary.BigEndian.Uint32(rest)) + pngChunkOverhead
		if size > uint64(len(rest)) {
			break
		}
		chunk, kind := rest[:size], string(rest[4:8])
		rest = rest[size:]
		if pngKept[kind] {
			p.content = append(p.content, chunk...)
		}
		if kind == "IEND" {
			return p, nil
		}
	}
	return picture{}, invalidPhoto("PNG cut short")
}

func readPNGHeader(chunks []byte) (picture, error) {
	if len(chunks) < len(pngHeaderStart)+pngHeaderSize || string(chunks[:len(pngHeaderStart)]) != pngHeaderStart {
		return picture{}, invalidPhoto("PNG without a header")
	}
	header := chunks[len(pngHeaderStart):]
	p := picture{
		format:      PNG,
		width:       int(binary.BigEndian.Uint32(header)),
		height:      int(binary.BigEndian.Uint32(header[4:])),
		orientation: upright,
		decode:      png.Decode,
	}
	if err := checkSides(p.width, p.height); err != nil {
		return picture{}, err
	}
	depth, colourType, interlaced := header[8], header[9], header[12] != 0
	p.decodedBytes = pngDecodedBytes(int64(p.width*p.height), depth, colourType, interlaced)
	return p, nil
}

// pngDecodedBytes is the most that the decoder allocates. An interlaced picture is assembled from
// seven smaller ones that add up to its size.
func pngDecodedBytes(pixels int64, depth, colourType byte, interlaced bool) int64 {
	total := 4 * pixels
	switch {
	case colourType == pngPaletted:
		total = pixels
	case depth == 16:
		total = 8 * pixels
	}
	if interlaced {
		total *= 2
	}
	return total
}
