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

func TestWebLink(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"https://maps.app.goo.gl/AbC":                                "https://maps.app.goo.gl/AbC",
		"HTTPS://maps.app.goo.gl/AbC":                                "https://maps.app.goo.gl/AbC",
		"http://goo.gl/maps/AbC":                                     "http://goo.gl/maps/AbC",
		"maps.app.goo.gl/AbC":                                        "https://maps.app.goo.gl/AbC",
		"Mi ubicación: https://maps.app.goo.gl/AbC":                  "https://maps.app.goo.gl/AbC",
		"Estoy aquí (https://maps.app.goo.gl/AbC), casa azul":        "https://maps.app.goo.gl/AbC",
		"https://maps.app.goo.gl/AbC tercer piso":                    "https://maps.app.goo.gl/AbC",
		"maps.app.goo.gl/AbC tercer piso":                            "https://maps.app.goo.gl/AbC",
		"https://www.google.com/maps?q=-12.04, -77.04":               "https://www.google.com/maps?q=-12.04, -77.04",
		"https://www.google.com/maps?q=Larcomar":                     "https://www.google.com/maps?q=Larcomar",
		"https://www.google.com/maps/@-12.1,-77.03,15z puerta verde": "https://www.google.com/maps/@-12.1,-77.03,15z",
		"https://mapas.example/punto/1":                              "https://mapas.example/punto/1",
		"mapas.example/punto/1":                                      "",
		"javascript:alert(1)":                                        "",
		"javascript://maps.app.goo.gl/%0Aalert(1)":                   "",
		"data:text/html,https://maps.app.goo.gl/AbC":                 "",
		"ftp://maps.app.goo.gl/AbC":                                  "",
		"geo:-12.1,-77.03":                                           "",
		"-12.1, -77.03":                                              "",
		"a la vuelta de mi casa":                                     "",
		"https://":                                                   "",
		"":                                                           "",
	} {
		require.Equal(t, want, WebLink(sent), sent)
	}
}
