package photos

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret stands for everything a photo must not tell; the fixtures write it into every place for
// text.
const secret = "12.0464S 77.0428W"

// The colours of the scene's corners.
var (
	red    = color.RGBA{R: 220, A: 255}
	green  = color.RGBA{G: 200, A: 255}
	blue   = color.RGBA{B: 220, A: 255}
	yellow = color.RGBA{R: 230, G: 220, A: 255}
)

// scene is a picture of four colours: red and green above, blue and yellow below.
func scene(width, height int) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			row := [][2]color.RGBA{{red, green}, {blue, yellow}}[2*y/height]
			picture.SetRGBA(x, y, row[2*x/width])
		}
	}
	return picture
}

func jpegOf(t testing.TB, picture image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, picture, &jpeg.Options{Quality: 95}))
	return out.Bytes()
}

func pngOf(t testing.TB, picture image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, picture))
	return out.Bytes()
}

// withSegments puts JPEG segments behind the start of the image.
func withSegments(photo []byte, segments ...[]byte) []byte {
	return slices.Concat(photo[:2], slices.Concat(segments...), photo[2:])
}

const (
	markerSOF0, markerSOF2, markerDHT   = 0xc0, 0xc2, 0xc4
	markerSOI, markerEOI, markerSOS     = 0xd8, 0xd9, 0xda
	markerDQT, markerAPP1, markerAPP2   = 0xdb, 0xe1, 0xe2
	pngSignature                        = "\x89PNG\r\n\x1a\n"
	endOfPNGHeader                      = len(pngSignature) + 25
	tagOrientation, webpEXIF, webpAlpha = 0x0112, 1 << 3, 1 << 4
)

func segment(marker byte, payload string) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(payload))), payload...)
}

func divideUp(a, b int) int { return (a + b - 1) / b }

// gpsEXIF is an EXIF segment as phones write it: orientation, device, and where the photo was
// taken.
func gpsEXIF(order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}, o orientation) []byte {
	const (
		ascii, short, long, rational = 2, 3, 4, 5
		gpsDirectory                 = 8 + 2 + 3*12 + 4
		text                         = gpsDirectory + 2 + 2*12 + 4
		degrees                      = text + len(secret) + 1
	)
	entry := func(tiff []byte, tag, kind uint16, count, value uint32) []byte {
		tiff = order.AppendUint16(tiff, tag)
		tiff = order.AppendUint16(tiff, kind)
		tiff = order.AppendUint32(tiff, count)
		if kind == short {
			return order.AppendUint16(order.AppendUint16(tiff, uint16(value)), 0)
		}
		return order.AppendUint32(tiff, value)
	}
	tiff := []byte("II")
	if order.Uint16([]byte{0, 1}) == 1 {
		tiff = []byte("MM")
	}
	tiff = order.AppendUint32(order.AppendUint16(tiff, 42), 8)
	tiff = order.AppendUint16(tiff, 3)
	tiff = entry(tiff, 0x010f, ascii, uint32(len(secret)+1), uint32(text)) // Make
	tiff = entry(tiff, tagOrientation, short, 1, uint32(o))
	tiff = entry(tiff, 0x8825, long, 1, gpsDirectory) // GPSInfo
	tiff = order.AppendUint32(tiff, 0)
	tiff = order.AppendUint16(tiff, 2)
	tiff = entry(tiff, 0x0002, rational, 3, uint32(degrees)) // GPSLatitude
	tiff = entry(tiff, 0x0004, rational, 3, uint32(degrees)) // GPSLongitude
	tiff = order.AppendUint32(tiff, 0)
	tiff = append(tiff, secret+"\x00"...)
	for _, part := range []uint32{12, 2, 47} {
		tiff = order.AppendUint32(order.AppendUint32(tiff, part), 1)
	}
	return segment(markerAPP1, "Exif\x00\x00"+string(tiff))
}

// grayJPEG writes a JPEG of one gray by hand, with as many scans as asked.
func grayJPEG(frameMarker byte, width, height, scans int) []byte {
	sides := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(height)), uint16(width))
	onlyZero := "\x01" + string(make([]byte, 15)) + "\x00" // one code of one bit, for the value 0
	photo := slices.Concat(
		[]byte{0xff, markerSOI},
		segment(markerDQT, "\x00"+string(bytes.Repeat([]byte{1}, 64))),
		segment(frameMarker, "\x08"+string(sides)+"\x01\x01\x11\x00"),
		segment(markerDHT, "\x00"+onlyZero+"\x10"+onlyZero),
	)
	bits, lastCoefficient := 2*divideUp(width, 8)*divideUp(height, 8), "\x3f"
	if frameMarker == markerSOF2 {
		bits, lastCoefficient = bits/2, "\x00" // these scans are of the first coefficient alone
	}
	for range scans {
		photo = append(photo, segment(markerSOS, "\x01\x01\x00\x00"+lastCoefficient+"\x00")...)
		photo = append(photo, make([]byte, divideUp(bits, 8))...)
	}
	return append(photo, 0xff, markerEOI)
}

func pngChunk(kind, data string) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(chunk, kind+data...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
}

// pngHeader is a PNG up to and including its header.
func pngHeader(width, height uint32, depth, colourType, interlace byte) []byte {
	sides := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	kind := []byte{depth, colourType, 0, 0, interlace}
	return append([]byte(pngSignature), pngChunk("IHDR", string(sides)+string(kind))...)
}

// withChunks puts chunks behind the header of a PNG.
func withChunks(photo []byte, chunks ...[]byte) []byte {
	return slices.Concat(photo[:endOfPNGHeader], slices.Concat(chunks...), photo[endOfPNGHeader:])
}

type webpChunk struct{ kind, payload string }

func webpOf(chunks ...webpChunk) []byte {
	photo := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, chunk := range chunks {
		photo = binary.LittleEndian.AppendUint32(append(photo, chunk.kind...), uint32(len(chunk.payload)))
		photo = append(photo, chunk.payload...)
		photo = append(photo, make([]byte, len(chunk.payload)%2)...)
	}
	binary.LittleEndian.PutUint32(photo[4:], uint32(len(photo)-8))
	return photo
}

func vp8x(flags byte, width, height int) webpChunk {
	side := func(n int) string { return string([]byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)}) }
	return webpChunk{"VP8X", string([]byte{flags, 0, 0, 0}) + side(width) + side(height)}
}

// solidVP8L is a picture of one colour in ten bytes, whatever its size: every code has one symbol,
// and takes no bits.
func solidVP8L(width, height int) webpChunk {
	var bits []byte
	write := func(value, n int) {
		for i := range n {
			bits = append(bits, byte(value>>i&1))
		}
	}
	write(0x2f, 8)
	write(width-1, 14)
	write(height-1, 14)
	write(0, 4) // opaque, version 0
	write(0, 3) // no transform, no colour cache, one group of codes
	for _, symbol := range []int{90, 30, 200, 255, 0} {
		write(0b101, 3) // a simple code, with one symbol, of eight bits
		write(symbol, 8)
	}
	packed := make([]byte, divideUp(len(bits), 8))
	for i, bit := range bits {
		packed[i/8] |= bit << (i % 8)
	}
	return webpChunk{"VP8L", string(packed)}
}

// webpPixel are the smallest WebP files of each kind, of one pixel.
var webpPixel = map[string]string{
	"lossy":    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
	"lossless": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
	"transparent": "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDgg" +
		"GAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
	"animated": "UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAA" +
		"AAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA",
}

func webpPixelOf(t testing.TB, kind string) []byte {
	photo, err := base64.StdEncoding.DecodeString(webpPixel[kind])
	require.NoError(t, err)
	return photo
}
