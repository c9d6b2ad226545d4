package photos

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	xmpHeader  = "http://ns.adobe.com/xap/1.0/\x00"
	iptcHeader = "Photoshop 3.0\x008BIM\x04\x04"
)

func TestJPEGMetadataIsRemoved(t *testing.T) {
	t.Parallel()
	photo := jpegOf(t, scene(33, 17))
	profile := segment(markerAPP2, iccHeader+"\x01\x01the colours of a phone")
	tests := map[string]struct{ before, after [][]byte }{
		"EXIF":                 {before: [][]byte{gpsEXIF(binary.BigEndian, upright)}},
		"XMP":                  {before: [][]byte{segment(markerAPP1, xmpHeader+secret)}},
		"IPTC":                 {before: [][]byte{segment(0xed, iptcHeader+secret)}},
		"comment":              {before: [][]byte{segment(markerCOM, secret)}},
		"list of pictures":     {before: [][]byte{segment(markerAPP2, "MPF\x00"+secret)}},
		"a maker's own":        {before: [][]byte{segment(markerAPP15, secret), segment(0xe4, secret)}},
		"preview":              {before: [][]byte{segment(markerAPP0, "JFXX\x00\x10"+secret)}},
		"damaged EXIF":         {before: [][]byte{segment(markerAPP1, exifHeader+"II*\x00\xff\xff\xff\xff"+secret)}},
		"EXIF twice":           {before: [][]byte{gpsEXIF(binary.BigEndian, upright), gpsEXIF(binary.LittleEndian, 6)}},
		"colour profile stays": {before: [][]byte{profile, segment(markerCOM, secret)}, after: [][]byte{profile}},
		"everything": {
			before: [][]byte{
				gpsEXIF(binary.LittleEndian, upright), segment(markerAPP1, xmpHeader+secret), profile, segment(markerCOM, secret),
			},
			after: [][]byte{profile},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirty := withSegments(photo, test.before...)
			require.Contains(t, string(dirty), secret)
			clean, format, err := Clean(dirty)
			require.NoError(t, err)
			require.Equal(t, JPEG, format)
			require.NotContains(t, string(clean), secret)
			require.Equal(t, withSegments(photo, test.after...), clean)
			requireSamePicture(t, photo, clean)
		})
	}
}

func TestJPEGKeepsOnlyTheOrientation(t *testing.T) {
	t.Parallel()
	photo := jpegOf(t, scene(33, 17))
	for o := upright; o <= 8; o++ {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			t.Parallel()
			want := photo
			if o != upright {
				want = withSegments(photo, segment(markerAPP1, string(exifPayload(o))))
			}
			for _, exif := range [][]byte{gpsEXIF(binary.BigEndian, o), gpsEXIF(binary.LittleEndian, o)} {
				clean, _, err := Clean(withSegments(photo, exif))
				require.NoError(t, err)
				require.Equal(t, want, clean)
				again, _, err := Clean(clean)
				require.NoError(t, err)
				require.Equal(t, clean, again)
			}
		})
	}
}

func TestOrientationThatMakesNoSenseIsUpright(t *testing.T) {
	t.Parallel()
	whole := exifPayload(6)[len(exifHeader):]
	require.EqualValues(t, 6, readOrientation(whole))
	const entry = 10
	changed := func(at int, value byte) []byte {
		tiff := slices.Clone(whole)
		tiff[at] = value
		return tiff
	}
	tests := map[string][]byte{
		"nothing":                {},
		"byte order of nobody":   changed(0, 'X'),
		"directory out of reach": changed(4, 0xff),
		"directory at the end":   changed(7, byte(len(whole)-1)),
		"no entries":             changed(9, 0),
		"another tag":            changed(entry+1, 0x13),
		"another type":           changed(entry+3, 4),
		"two values":             changed(entry+7, 2),
		"zero":                   changed(entry+9, 0),
		"nine":                   changed(entry+9, 9),
		"entry cut short":        whole[:entry+11],
	}
	for name, tiff := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, upright, readOrientation(tiff))
		})
	}
}

func TestJPEGIsWrittenByTheBook(t *testing.T) {
	t.Parallel()
	photo := jpegOf(t, scene(33, 17))
	jfif := func(thumbnail string) []byte {
		return segment(markerAPP0, jfifHeader+"\x01\x02\x01\x00\x48\x00\x48"+thumbnail)
	}
	var (
		plain = jfif("\x00\x00")
		exif  = segment(markerAPP1, string(exifPayload(6)))
		adobe = "Adobe\x00\x64\x00\x00\x00\x00\x01"
		frame = bytes.Index(photo, segmentOf(photo, markerSOF0))
		end   = len(photo) - 2
	)
	tests := map[string]struct{ given, want []byte }{
		"fill before a marker": {withSegments(photo, []byte{0xff, 0xff, 0xff}), photo},
		"fill before the end":  {slices.Concat(photo[:end], []byte{0xff, 0xff}, photo[end:]), photo},
		"strays between segments": {
			withSegments(photo, plain, []byte("stray \xff\x00 \xff\xd3")), withSegments(photo, plain),
		},
		"preview inside JFIF":    {withSegments(photo, jfif("\x01\x01RGB")), withSegments(photo, plain)},
		"EXIF before JFIF":       {withSegments(photo, exif, plain), withSegments(photo, plain, exif)},
		"EXIF behind the tables": {slices.Concat(photo[:frame], exif, photo[frame:]), withSegments(photo, exif)},
		"colour transform, longer": {
			withSegments(photo, segment(markerAPP14, adobe+secret)), withSegments(photo, segment(markerAPP14, adobe)),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, _, err := Clean(test.given)
			require.NoError(t, err)
			require.Equal(t, test.want, clean)
			requireSamePicture(t, test.given, clean)
		})
	}
}

// segmentOf is the whole segment of a marker.
func segmentOf(photo []byte, marker byte) []byte {
	start := bytes.Index(photo, []byte{0xff, marker})
	return photo[start : start+2+int(binary.BigEndian.Uint16(photo[start+2:]))]
}
