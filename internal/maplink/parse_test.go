package maplink

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// vector is a link with the point it means, or the reason it has none.
type vector struct {
	Case   string  `json:"case"`
	Link   string  `json:"link"`
	Lat    float64 `json:"lat"`
	Lng    float64 `json:"lng"`
	Source Source  `json:"source"`
	Error  string  `json:"error"`
	Follow string  `json:"follow"` // for a short link, the address to ask
}

var reasons = map[string]error{
	"not_map_link": ErrNotMapLink,
	"no_point":     ErrNoPoint,
	"list":         ErrList,
	"out_of_range": ErrOutOfRange,
	"short":        ErrShortLink,
}

func readVectors(t testing.TB) []vector {
	t.Helper()
	content, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(content, &vectors))
	require.GreaterOrEqual(t, len(vectors), 120)
	return vectors
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t) {
		t.Run(v.Case, func(t *testing.T) {
			t.Parallel()
			point, err := Parse(v.Link)
			if v.Error == "" {
				require.NoError(t, err)
				require.Equal(t, v.Source, point.Source)
				require.InDelta(t, v.Lat, point.Lat, 1e-7)
				require.InDelta(t, v.Lng, point.Lng, 1e-7)
				return
			}
			require.Zero(t, point)
			require.Contains(t, reasons, v.Error)
			require.ErrorIs(t, err, reasons[v.Error])
			if v.Error == "no_point" {
				require.NotErrorIs(t, err, ErrList)
			}
			var short *ShortLink
			if v.Follow != "" {
				require.ErrorAs(t, err, &short)
				require.Equal(t, v.Follow, short.URL)
			}
		})
	}
}

func TestPointIsPrintedAsItsThreeMembers(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(Point{Lat: -12.1, Lng: -77.0, Source: SourcePin})
	require.NoError(t, err)
	require.Equal(t, `{"lat":-12.1,"lng":-77,"source":"pin"}`, string(line))
}

func TestParseRefusesTextBeyondAnyLink(t *testing.T) {
	t.Parallel()
	huge := make([]byte, maxLink)
	for i := range huge {
		huge[i] = 'a'
	}
	_, err := Parse("https://maps.google.com/?q=-12.1,-77.0&x=" + string(huge))
	require.ErrorIs(t, err, ErrNotMapLink)
}

func FuzzParse(f *testing.F) {
	for _, v := range readVectors(f) {
		f.Add(v.Link)
	}
	f.Fuzz(func(t *testing.T, text string) {
		point, err := Parse(text)
		if err != nil {
			require.Zero(t, point)
			return
		}
		require.False(t, math.IsNaN(point.Lat) || math.IsNaN(point.Lng))
		require.True(t, -90 <= point.Lat && point.Lat <= 90, "latitude %v", point.Lat)
		require.True(t, -180 <= point.Lng && point.Lng <= 180, "longitude %v", point.Lng)
		require.Contains(t, []Source{SourcePin, SourceQuery, SourcePath, SourceViewport}, point.Source)
	})
}

// BenchmarkParse reads long links of each service.
func BenchmarkParse(b *testing.B) {
	links := map[string]string{}
	for _, v := range readVectors(b) {
		links[v.Case] = v.Link
	}
	for _, name := range []string{
		"google place: the pin, not the centre",
		"google directions: last waypoint, longitude first",
		"google embed: a marker dropped by hand",
		"consent page around a dynamic link",
		"whatsapp location",
		"waze directions",
		"apple coordinate is a pin",
		"osm directions",
		"degrees, typographic",
		"google landing of many app links",
	} {
		b.Run(name, func(b *testing.B) {
			require.NotEmpty(b, links[name])
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Parse(links[name])
			}
		})
	}
}
