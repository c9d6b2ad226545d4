package photos

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPNGMetadataIsRemoved(t *testing.T) {
	t.Parallel()
	photo := pngOf(t, scene(33, 17))
	profile := pngChunk("iCCP", "phone\x00\x00...")
	resolution := pngChunk("pHYs", "\x00\x00\x0b\x13\x00\x00\x0b\x13\x01")
	damaged := pngChunk("tEXt", secret)
	damaged[len(damaged)-1] ^= 0xff
	tests := map[string]struct{ before, after [][]byte }{
		"EXIF":             {before: [][]byte{pngChunk("eXIf", "MM\x00*"+secret)}},
		"text":             {before: [][]byte{pngChunk("tEXt", "Comment\x00"+secret)}},
		"damaged text":     {before: [][]byte{damaged}},
		"compressed text":  {before: [][]byte{pngChunk("zTXt", "Comment\x00\x00"+secret)}},
		"XMP":              {before: [][]byte{pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+secret)}},
		"time":             {before: [][]byte{pngChunk("tIME", "\x07\xea\x0b\x0f\x0c\x00\x00"), pngChunk("tEXt", secret)}},
		"a program's own":  {before: [][]byte{pngChunk("prVt", secret)}},
		"animation":        {before: [][]byte{pngChunk("acTL", "\x00\x00\x00\x02\x00\x00\x00\x00"), pngChunk("fdAT", secret)}},
		"named palette":    {before: [][]byte{pngChunk("sPLT", secret+"\x00\x08")}},
		"appearance stays": {before: [][]byte{profile, pngChunk("tEXt", secret), resolution}, after: [][]byte{profile, resolution}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirty := withChunks(photo, test.before...)
			require.Contains(t, string(dirty), secret)
			clean, format, err := Clean(dirty)
			require.NoError(t, err)
			require.Equal(t, PNG, format)
			require.Equal(t, withChunks(photo, test.after...), clean)
			requireSamePicture(t, photo, clean)
		})
	}
}

func TestPNGWithAnAbsurdChunkLengthIsRefused(t *testing.T) {
	t.Parallel()
	photo := pngOf(t, scene(33, 17))
	photo = withChunks(photo, bytes.Replace(pngChunk("tEXt", secret), []byte{0, 0, 0}, []byte{0xff, 0xff, 0xff}, 1))
	_, _, err := Clean(photo)
	require.ErrorIs(t, err, errNotPhoto)
}
