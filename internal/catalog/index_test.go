package catalog

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

var (
	peru       = CountryID("PE")
	lima       = CityID("PE", "1501")
	callao     = CityID("PE", "0701")
	miraflores = DistrictID("PE", "150122")
	sanAntonio = ZoneID("PE", "150122", "San Antonio")
)

// fullIndex is shared by the tests: an index never changes.
var fullIndex = sync.OnceValue(func() *Index {
	countries, locations := Embedded()
	return NewIndex(countries, append(locations, DemoZones()...))
})

func names(locations []Location) []string {
	var all []string
	for _, location := range locations {
		all = append(all, location.Name)
	}
	return all
}

func TestIndexCountries(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	countries := index.Countries()
	require.Len(t, countries, 18)
	require.Equal(t, "Argentina", countries[0].Name)
	require.True(t, slices.IsSortedFunc(countries, func(a, b Country) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) }))

	countries[0].Name = "changed by a caller"
	require.Equal(t, "Argentina", index.Countries()[0].Name)

	country, found := index.Country("pe")
	require.True(t, found)
	require.Equal(t, "+51", country.PhonePrefix)
	_, found = index.Country("XX")
	require.False(t, found)
}

func TestIndexByUbigeo(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	for code, name := range map[string]string{"150122": "Miraflores", "150140": "Santiago de Surco", "010101": "Chachapoyas"} {
		location, found := index.ByUbigeo("pe", code)
		require.True(t, found, code)
		require.Equal(t, name, location.Name)
		require.Equal(t, DistrictID("PE", code), location.ID)
	}
	for _, unknown := range []string{"", "1501", "150199", "10101"} {
		_, found := index.ByUbigeo("PE", unknown)
		require.False(t, found, unknown)
	}
	_, found := index.ByUbigeo("CL", "150122")
	require.False(t, found)
}

func TestIndexWalksUpTheTree(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	require.Equal(t, []string{"San Antonio", "Miraflores", "Lima", "Perú"}, names(index.Ancestors(sanAntonio)))
	require.Equal(t, []string{"Perú"}, names(index.Ancestors(peru)))
	require.Empty(t, index.Ancestors(uuid.New()))
}

func TestIndexChildren(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	require.Equal(t, []string{"Aurora", "San Antonio", "Santa Cruz"}, names(index.Children(miraflores)))
	require.Len(t, index.Children(peru), 196)
	require.Len(t, index.Children(lima), 43)
	require.Empty(t, index.Children(sanAntonio))
	require.NotNil(t, index.Children(sanAntonio), "a known location without children has an empty list")
	require.Nil(t, index.Children(uuid.New()))
}

func TestIndexTree(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	tree := index.Tree(lima)
	require.Len(t, tree, 43)
	require.Equal(t, "Ancón", tree[0].District.Name)
	require.Equal(t, "Villa María del Triunfo", tree[42].District.Name)
	for _, entry := range tree {
		require.NotNil(t, entry.Zones)
		require.Equal(t, index.Children(entry.District.ID), entry.Zones)
	}

	both := index.Tree(callao, lima, callao)
	require.Len(t, both, 43+7)
	require.True(t, slices.IsSortedFunc(both, func(a, b DistrictZones) int {
		return compareNodes(index.nodes[a.District.ID], index.nodes[b.District.ID])
	}))
	require.Empty(t, index.Tree())
	require.Empty(t, index.Tree(uuid.New(), miraflores))
	require.Empty(t, index.Tree(peru), "a country's children are cities")
}

// Cities of one name come in the same sequence, whatever the sequence of the places in them:
// clients compare the list with the one they have.
func TestIndexCities(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	require.Equal(t, []string{"Callao", "Lima"}, names(index.Cities([]uuid.UUID{sanAntonio, callao, miraflores, lima, uuid.New()})))
	require.Equal(t, index.Children(peru), index.Cities([]uuid.UUID{miraflores, peru}))
	require.Empty(t, index.Cities(nil))

	countries, _ := Embedded()
	locations := []Location{{ID: peru, CountryCode: "PE", Type: TypeCountry, Name: "Perú"}}
	var ids []uuid.UUID
	for range 20 {
		city := Location{ID: uuid.New(), CountryCode: "PE", Type: TypeCity, Name: "San Juan", ParentID: &peru}
		locations, ids = append(locations, city), append(ids, city.ID)
	}
	twins := NewIndex(countries, locations)
	inSequence := twins.Cities(ids)
	slices.Reverse(ids)
	require.Equal(t, inSequence, twins.Cities(ids))
}

func TestIndexCityByNameOrID(t *testing.T) {
	t.Parallel()
	index := fullIndex()
	for _, text := range []string{"Lima", " LIMA ", "lima", lima.String()} {
		city, found := index.CityByNameOrID("pe", text)
		require.True(t, found, text)
		require.Equal(t, lima, city.ID)
	}
	city, found := index.CityByNameOrID("PE", "huanuco")
	require.True(t, found)
	require.Equal(t, "Huánuco", city.Name)

	for _, text := range []string{"", "Miraflores", miraflores.String(), peru.String(), uuid.NewString(), "Lim"} {
		_, found := index.CityByNameOrID("PE", text)
		require.False(t, found, text)
	}
	_, found = index.CityByNameOrID("CL", lima.String())
	require.False(t, found, "a city of another country")
}

func TestIndexOfUntidyLocations(t *testing.T) {
	t.Parallel()
	north := Location{ID: uuid.New(), Type: TypeCity, Name: "San José", CountryCode: "XX", Department: "Norte"}
	east := Location{ID: uuid.New(), Type: TypeCity, Name: "San Jose", CountryCode: "XX", Department: "Este"}
	orphan := Location{ID: uuid.New(), Type: TypeDistrict, Name: "Sola", CountryCode: "XX", ParentID: &uuid.UUID{1}}
	left := Location{ID: uuid.New(), Type: TypeZone, Name: "Izquierda", CountryCode: "XX"}
	right := Location{ID: uuid.New(), Type: TypeZone, Name: "Derecha", CountryCode: "XX", ParentID: &left.ID}
	left.ParentID = &right.ID
	repeated := north
	repeated.Name = "Otra"
	index := NewIndex(nil, []Location{north, east, orphan, left, right, repeated})

	city, _ := index.CityByNameOrID("XX", "san josé")
	require.Equal(t, east.ID, city.ID, "of cities with one name, the first department's")
	city, _ = index.CityByNameOrID("XX", north.ID.String())
	require.Equal(t, "San José", city.Name, "of locations with one id, the first")
	require.Empty(t, index.Search("XX", "otra", 20))
	require.Equal(t, []string{"Sola"}, names(index.Ancestors(orphan.ID)))
	require.Equal(t, []string{"Izquierda"}, names(index.Ancestors(left.ID)), "a cycle of parents is cut")
}
