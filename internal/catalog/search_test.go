package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSearchIgnoresAccentsAndCase(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	for q, want := range map[string]string{
		"brena":                  "Breña",
		"BREÑA":                  "Breña",
		"surco":                  "Santiago de Surco",
		"Santiago de Surco":      "Santiago de Surco",
		"san juan de luri":       "San Juan de Lurigancho",
		"zarate":                 "Zárate",
		"olivos":                 "Los Olivos",
		"maria del triunfo":      "Villa María del Triunfo",
		"magdalena-del-mar":      "Magdalena del Mar",
		"urigancho":              "Lurigancho",
		"  pachacamac  ":         "Pachacámac",
		"chacarilla del estanqu": "Chacarilla del Estanque",
	} {
		require.Contains(t, names(index.Search("pe", q, 20)), want, q)
	}
}

func TestSearchRanks(t *testing.T) {
	t.Parallel()
	location := func(kind LocationType, name, department string) Location {
		return Location{ID: locationID(string(kind), name, department), Type: kind, Name: name, CountryCode: "XX", Department: department}
	}
	index := NewIndex(nil, []Location{
		location(TypeCountry, "Ana", ""),
		location(TypeDistrict, "Bananal", ""),
		location(TypeDistrict, "Santa Ana", ""),
		location(TypeDistrict, "Banana Ana", ""),
		location(TypeZone, "Anaya", ""),
		location(TypeDistrict, "Anaco", "Sur"),
		location(TypeDistrict, "Anaco", "Norte"),
		location(TypeCity, "Ana", ""),
		location(TypeZone, "Aña", ""),
		location(TypeDistrict, "Ana", ""),
		location(TypeDistrict, "Lima", ""),
	})
	type answer struct {
		kind             LocationType
		name, department string
	}
	var got []answer
	for _, found := range index.Search("XX", "aná", 20) {
		got = append(got, answer{found.Type, found.Name, found.Department})
	}
	require.Equal(t, []answer{
		{TypeDistrict, "Ana", ""}, {TypeZone, "Aña", ""}, {TypeCity, "Ana", ""}, // exactly that
		{TypeDistrict, "Anaco", "Norte"}, {TypeDistrict, "Anaco", "Sur"}, {TypeZone, "Anaya", ""}, // begin with it
		{TypeDistrict, "Banana Ana", ""}, {TypeDistrict, "Santa Ana", ""}, // have a word that does
		{TypeDistrict, "Bananal", ""}, // have it inside
	}, got)
	require.Equal(t, names(index.Search("XX", "ana", 20))[:4], names(index.Search("XX", "ana", 4)), "the limit keeps the best")
}

func TestSearchLimitsAndMisses(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	require.Len(t, index.Search("PE", "san", 20), 20)
	require.Len(t, index.Search("PE", "san", 1), 1)
	require.Empty(t, index.Search("PE", "san", 0))
	require.Empty(t, index.Search("PE", "", 20))
	require.Empty(t, index.Search("PE", "¿?", 20))
	require.Empty(t, index.Search("PE", "xyzzy", 20))
	require.Empty(t, index.Search("CL", "lima", 20), "another country")
	for _, found := range index.Search("PE", "perú", 20) {
		require.NotEqual(t, TypeCountry, found.Type, "countries are no answer")
	}
	require.Equal(t, TypeDistrict, index.Search("PE", "lima", 20)[0].Type, "the district before the city of its name")
}
