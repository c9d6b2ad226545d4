package barcode_test

import (
	"image"
	"image/color"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/boombuler/barcode/qr"
	"github.com/stretchr/testify/require"

	"despacho/internal/guidecode"
	"despacho/internal/panel/barcode"
)

// widths are the bars and spaces of every Code 128 character by its value, as ISO/IEC 15417 lists
// them.
var widths = strings.Fields(`
212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221 223211 221132
221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321 112313 132113 132311 211313
231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111
314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111
111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141
114131 311141 411131 211412 211214 211232`)

const (
	codeC, codeB   = 99, 100
	startB, startC = 104, 105
	stop           = "2331112"
)

var run = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// pixels paints a drawing's path.
func pixels(t *testing.T, d *barcode.Drawing) *image.Gray {
	t.Helper()
	painted := image.NewGray(image.Rect(0, 0, d.Width, d.Height))
	for i := range painted.Pix {
		painted.Pix[i] = 255
	}
	require.Empty(t, run.ReplaceAllString(d.Path, ""), "nothing but runs of modules")
	for _, match := range run.FindAllStringSubmatch(d.Path, -1) {
		x, y, width := number(t, match[1]), number(t, match[2]), number(t, match[3])
		require.Equal(t, match[3], match[4])
		for i := range width {
			painted.SetGray(x+i, y, color.Gray{})
		}
	}
	return painted
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// readCode128 reads the bars as a scanner does: by their widths, with the check character.
func readCode128(t *testing.T, d *barcode.Drawing) string {
	t.Helper()
	row := pixels(t, d)
	var pattern strings.Builder
	length, before := 0, row.GrayAt(0, 0).Y
	var lengths []int
	for x := range d.Width {
		if row.GrayAt(x, 0).Y != before {
			lengths, length, before = append(lengths, length), 0, row.GrayAt(x, 0).Y
		}
		length++
	}
	require.GreaterOrEqual(t, lengths[0], 10, "quiet zone before")
	require.GreaterOrEqual(t, length, 10, "quiet zone after")
	for _, width := range lengths[1:] {
		pattern.WriteString(strconv.Itoa(width))
	}
	bars, ended := strings.CutSuffix(pattern.String(), stop)
	require.True(t, ended, "the stop character ends it")
	require.Zero(t, len(bars)%6)
	var values []int
	for i := 0; i < len(bars); i += 6 {
		values = append(values, valueOf(t, bars[i:i+6]))
	}
	data, check := values[:len(values)-1], values[len(values)-1]
	sum := data[0]
	for i, value := range data {
		sum += i * value
	}
	require.Equal(t, sum%103, check, "the check character agrees")
	return textOf(t, data)
}

func valueOf(t *testing.T, pattern string) int {
	t.Helper()
	for value, known := range widths {
		if known == pattern {
			return value
		}
	}
	t.Fatalf("%s is no character", pattern)
	return 0
}

func textOf(t *testing.T, data []int) string {
	t.Helper()
	var text strings.Builder
	set := data[0]
	require.Contains(t, []int{startB, startC}, set)
	for _, value := range data[1:] {
		switch {
		case set == startC && value == codeB:
			set = startB
		case set == startB && value == codeC:
			set = startC
		case set == startC:
			text.WriteString(strconv.Itoa(value/10) + strconv.Itoa(value%10))
		default:
			text.WriteByte(byte(value + ' '))
		}
	}
	return text.String()
}

func TestCode128_readsBackAsTheGuideCode(t *testing.T) {
	t.Parallel()
	codes := []string{"01234-56789A", "A0123-4567BC", "ABCDE-FGHJKM", "00000-000000"}
	for range 500 {
		codes = append(codes, guidecode.New())
	}
	for _, code := range codes {
		drawn, err := barcode.Code128(code)
		require.NoError(t, err)
		require.Equal(t, code, readCode128(t, drawn))
		require.Equal(t, 1, drawn.Height)
		require.LessOrEqual(t, drawn.Width, 187, "%s fits across a label at half a millimetre for each module", code)
	}
}

func TestQR_drawsEveryModuleWithItsQuietZone(t *testing.T) {
	t.Parallel()
	const address = "https://despacho.example/track/01234-56789A"
	drawn, err := barcode.QR(address)
	require.NoError(t, err)
	want, err := qr.Encode(address, qr.M, qr.Auto)
	require.NoError(t, err)
	require.Equal(t, want.Bounds().Dx()+8, drawn.Width)
	require.Equal(t, drawn.Width, drawn.Height)
	painted := pixels(t, drawn)
	for y := range drawn.Height {
		for x := range drawn.Width {
			inside := image.Pt(x-4, y-4).In(want.Bounds())
			black := inside && color.GrayModel.Convert(want.At(x-4, y-4)).(color.Gray).Y == 0
			require.Equal(t, black, painted.GrayAt(x, y).Y == 0, "module %d, %d", x, y)
		}
	}
}

func TestCode128_rejectsUnsupportedCharacters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "ñandú", strings.Repeat("A", 81)} {
		_, err := barcode.Code128(text)
		require.Error(t, err, text)
	}
}
