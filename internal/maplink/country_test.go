package maplink

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// inhabited are places of each country that lie near the edges of its box, its capital first.
var inhabited = map[string][][2]float64{
	"AR": {{-34.6037, -58.3816}, {-54.8019, -68.3030}, {-22.1030, -65.5970}, {-25.5995, -54.5736}},
	"BO": {{-16.4897, -68.1193}, {-11.0267, -68.7692}, {-22.7355, -64.3421}, {-18.9667, -57.8000}},
	"BR": {{-15.7975, -47.8919}, {-33.6917, -53.4561}, {4.4775, -60.1481}, {-7.6150, -72.9000}, {-3.8536, -32.4297}},
	"CL": {{-33.4489, -70.6693}, {-18.4783, -70.3126}, {-54.9333, -67.6167}, {-27.1500, -109.4333}, {-33.6372, -78.8306}},
	"CO": {{4.7110, -74.0721}, {-4.2153, -69.9406}, {12.5847, -81.7006}, {13.3733, -81.3667}, {6.1890, -67.4859}},
	"CR": {{9.9281, -84.0907}, {11.0740, -85.6300}, {8.5333, -82.8333}, {5.5282, -87.0574}},
	"DO": {{18.4861, -69.9312}, {18.6450, -68.3950}, {19.6500, -71.7000}, {17.8000, -71.4333}},
	"EC": {{-0.1807, -78.4678}, {-0.9000, -89.6000}, {-0.9560, -90.9660}, {1.2700, -78.8300}, {-4.3800, -79.9400}},
	"GT": {{14.6349, -90.5069}, {17.2333, -89.6167}, {15.7278, -88.5944}, {14.6760, -92.1410}},
	"HN": {{14.0723, -87.1921}, {16.3300, -86.5300}, {15.2667, -83.7667}, {14.4333, -89.1833}},
	"MX": {{19.4326, -99.1332}, {32.5149, -117.0382}, {14.9056, -92.2634}, {21.1619, -86.8515}, {28.8830, -118.2900}},
	"NI": {{12.1150, -86.2362}, {12.1700, -83.0300}, {11.2500, -85.8700}, {14.7100, -83.2200}, {14.0300, -83.3800}},
	"PA": {{8.9824, -79.5199}, {9.3400, -82.2400}, {7.5200, -78.1600}, {8.4300, -82.4300}},
	"PE": {{-12.0464, -77.0428}, {-18.0146, -70.2536}, {-4.5772, -81.2719}, {-12.5933, -69.1891}, {-2.4400, -72.6700}},
	"PY": {{-25.2637, -57.5759}, {-25.5097, -54.6111}, {-20.0833, -59.7833}, {-27.3306, -55.8667}},
	"SV": {{13.6929, -89.2182}, {13.3369, -87.8439}, {13.9246, -89.8450}, {14.3300, -89.4500}},
	"UY": {{-34.9011, -56.1645}, {-30.4000, -56.4667}, {-33.6950, -53.4536}, {-34.4626, -57.8398}},
	"VE": {{10.4806, -66.9036}, {10.9970, -63.9113}, {4.6017, -61.1103}, {7.7669, -72.2250}, {11.9500, -66.6700}},
}

func TestCountryHoldsItsInhabitedPlaces(t *testing.T) {
	t.Parallel()
	require.Len(t, countries, len(inhabited))
	for code, places := range inhabited {
		bounds, known := Country(code)
		require.True(t, known, code)
		for _, place := range places {
			require.True(t, bounds.Contains(place[0], place[1]), "%s %v", code, place)
		}
	}
}

func TestParseInSetsSwappedPointsRight(t *testing.T) {
	t.Parallel()
	for code, places := range inhabited {
		bounds, _ := Country(code)
		for _, place := range places {
			link := fmt.Sprintf("https://maps.google.com/?q=%f,%f", place[1], place[0])
			point, err := ParseIn(link, bounds)
			require.NoError(t, err, "%s %v", code, place)
			require.Equal(t, Point{Lat: place[0], Lng: place[1], Source: SourceQuery}, point, code)
		}
	}
}

func TestParseIn(t *testing.T) {
	t.Parallel()
	peru, _ := Country("PE")
	mexico, _ := Country("MX")
	elsewhere, known := Country("XX")
	require.False(t, known)

	cases := map[string]struct {
		link    string
		country Bounds
		want    Point
		err     error
	}{
		"inside":                        {"geo:-12.1,-77.0", peru, Point{-12.1, -77.0, SourcePath}, nil},
		"swapped":                       {"geo:-77.0,-12.1", peru, Point{-12.1, -77.0, SourcePath}, nil},
		"swapped viewport":              {"https://www.google.com/maps/@-77.0,-12.1,15z", peru, Point{-12.1, -77.0, SourceViewport}, nil},
		"swapped and out of range":      {"geo:-99.1332,19.4326", mexico, Point{19.4326, -99.1332, SourcePath}, nil},
		"out of range either way":       {"geo:-199.1332,19.4326", mexico, Point{}, ErrOutOfRange},
		"out of range, no country":      {"geo:-99.1332,19.4326", elsewhere, Point{}, ErrOutOfRange},
		"outside either way":            {"geo:40.4168,-3.7038", peru, Point{}, ErrOutsideCountry},
		"no country to be outside of":   {"geo:40.4168,-3.7038", elsewhere, Point{40.4168, -3.7038, SourcePath}, nil},
		"no point":                      {"https://maps.google.com/?cid=1", peru, Point{}, ErrNoPoint},
		"a short link is still short":   {"https://maps.app.goo.gl/x", peru, Point{}, ErrShortLink},
		"not a map link in any country": {"https://example.com/", peru, Point{}, ErrNotMapLink},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			point, err := ParseIn(c.link, c.country)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, point)
		})
	}
}

func TestOutsideCountryErrorHasThePoint(t *testing.T) {
	t.Parallel()
	peru, _ := Country("PE")
	_, err := ParseIn("https://maps.google.com/?q=40.4168,-3.7038", peru)
	var outside *OutsideCountry
	require.ErrorAs(t, err, &outside)
	require.Equal(t, Point{40.4168, -3.7038, SourceQuery}, outside.Point)
}
