package photos

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzClean(f *testing.F) {
	for _, photo := range samples(f) {
		f.Add(photo)
	}
	f.Add(withSegments(jpegOf(f, scene(16, 8)), gpsEXIF(binary.LittleEndian, 6), segment(markerAPP2, iccHeader+"\x01\x01")))
	f.Add(withChunks(pngOf(f, scene(16, 8)), pngChunk("eXIf", secret), pngChunk("iCCP", "\x00")))
	f.Add(webpOf(vp8x(webpICC|webpEXIF, 1, 1), webpChunk{"ICCP", "odd"}, lossyChunk(f), webpChunk{"EXIF", secret}))
	f.Add(webpPixelOf(f, "animated"))
	f.Add(pngHeader(60_000, 60_000, 8, 6, 0))

	f.Fuzz(func(t *testing.T, content []byte) {
		if p, err := read(content); err == nil && p.width*p.height > 1<<20 {
			t.Skip("a large picture takes seconds and teaches nothing that a small one does not")
		}
		clean, format, err := Clean(content)
		if err != nil {
			require.Empty(t, clean)
			return
		}
		again, sameFormat, err := Clean(clean)
		require.NoError(t, err, "a clean photo is refused")
		require.Equal(t, format, sameFormat)
		require.Equal(t, clean, again, "a clean photo is changed")
		thumbnail, err := Thumbnail(content, 32)
		require.NoError(t, err)
		_, format, err = Clean(thumbnail)
		require.NoError(t, err)
		require.Equal(t, JPEG, format)
	})
}
