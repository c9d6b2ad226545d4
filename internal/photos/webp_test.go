package photos

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// The flags of VP8X that a clean photo never has.
const (
	webpXMP  = 1 << 2
	webpEXIF = 1 << 3
)

func TestWebPMetadataIsRemoved(t *testing.T) {
	t.Parallel()
	var (
		lossy    = lossyChunk(t)
		lossless = solidVP8L(3, 2)
		exif     = webpChunk{"EXIF", "MM\x00*" + secret}
		xmp      = webpChunk{"XMP ", "<x:xmpmeta>" + secret}
		profile  = webpChunk{"ICCP", "the colours of a phone!"}
		own      = webpChunk{"OWN ", secret}
	)
	tests := map[string]struct{ given, want []webpChunk }{
		"EXIF and XMP behind the picture": {
			given: []webpChunk{vp8x(webpEXIF|webpXMP, 1, 1), lossy, exif, xmp},
			want:  []webpChunk{vp8x(0, 1, 1), lossy},
		},
		"EXIF and XMP before the picture": {
			given: []webpChunk{vp8x(webpEXIF|webpXMP|webpAlpha, 3, 2), exif, xmp, lossless},
			want:  []webpChunk{vp8x(webpAlpha, 3, 2), lossless},
		},
		"EXIF that no header tells of": {
			given: []webpChunk{exif, lossless, exif},
			want:  []webpChunk{lossless},
		},
		"a program's own": {
			given: []webpChunk{own, vp8x(0, 1, 1), own, lossy, own},
			want:  []webpChunk{vp8x(0, 1, 1), lossy},
		},
		"colour profile stays": {
			given: []webpChunk{vp8x(webpICC|webpEXIF, 1, 1), profile, profile, lossy, exif},
			want:  []webpChunk{vp8x(webpICC, 1, 1), profile, lossy},
		},
		"colour profile that the header forgot": {
			given: []webpChunk{vp8x(0, 1, 1), profile, lossy, exif},
			want:  []webpChunk{vp8x(webpICC, 1, 1), profile, lossy},
		},
		"colour profile promised and missing": {
			given: []webpChunk{vp8x(webpICC|webpEXIF, 1, 1), lossy, exif},
			want:  []webpChunk{vp8x(0, 1, 1), lossy},
		},
		"colour profile without a header": {
			given: []webpChunk{profile, lossy, exif},
			want:  []webpChunk{lossy},
		},
		"reserved bits": {
			given: []webpChunk{{"VP8X", "\xc1\x01\x02\x03" + vp8x(0, 1, 1).payload[4:]}, lossy, exif},
			want:  []webpChunk{vp8x(0, 1, 1), lossy},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirty := webpOf(test.given...)
			require.Contains(t, string(dirty), secret)
			clean, format, err := Clean(dirty)
			require.NoError(t, err)
			require.Equal(t, WebP, format)
			require.Equal(t, webpOf(test.want...), clean)
			requireSamePicture(t, dirty, clean)
		})
	}
}

func TestWebPWithoutItsLastPaddingIsCompleted(t *testing.T) {
	t.Parallel()
	want := webpPixelOf(t, "lossless")
	given := want[:len(want)-1]
	binary.LittleEndian.PutUint32(given[4:], uint32(len(given)-8))
	clean, _, err := Clean(given)
	require.NoError(t, err)
	require.Equal(t, webpPixelOf(t, "lossless"), clean)
}
