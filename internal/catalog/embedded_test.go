package catalog

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestEmbeddedHasTheWholeCountry(t *testing.T) {
	t.Parallel()
	countries, locations := Embedded()
	count := map[LocationType]int{}
	departments := map[string]bool{}
	for _, location := range locations {
		count[location.Type]++
		if location.Department != "" {
			departments[location.Department] = true
		}
	}
	require.Len(t, countries, 18)
	require.Equal(t, map[LocationType]int{TypeCountry: 18, TypeCity: 196, TypeDistrict: 1892}, count)
	require.Len(t, departments, 25)
}

func TestEmbeddedLocationsAreComplete(t *testing.T) {
	t.Parallel()
	_, locations := Embedded()
	locations = append(locations, DemoZones()...)
	seen := map[uuid.UUID]Location{}
	ubigeos, reniecs := map[string]bool{}, map[string]bool{}
	for _, location := range locations {
		_, repeated := seen[location.ID]
		require.False(t, repeated, location.Name)
		require.NotEmpty(t, location.Name)
		require.Len(t, location.CountryCode, 2)
		if location.Type == TypeCountry {
			require.Nil(t, location.ParentID)
			require.Empty(t, location.City+location.Department)
		} else {
			require.NotNil(t, location.ParentID, location.Name)
			parent, known := seen[*location.ParentID]
			require.True(t, known, "the parent of %s comes before it", location.Name)
			require.Equal(t, parent.Type.depth()+1, location.Type.depth(), location.Name)
			require.Equal(t, parent.CountryCode, location.CountryCode)
			require.NotEmpty(t, location.Department, location.Name)
			require.NotEmpty(t, location.City, location.Name)
		}
		if location.Type == TypeDistrict {
			require.Regexp(t, `^\d{6}$`, location.Ubigeo)
			require.Regexp(t, `^\d{6}$`, location.Reniec)
			require.False(t, ubigeos[location.Ubigeo], location.Ubigeo)
			require.False(t, reniecs[location.Reniec], location.Reniec)
			ubigeos[location.Ubigeo], reniecs[location.Reniec] = true, true
			require.InDelta(t, -9.2, *location.Lat, 9.4, location.Name)
			require.InDelta(t, -75.0, *location.Lng, 6.5, location.Name)
		} else {
			require.Empty(t, location.Ubigeo+location.Reniec, location.Name)
			require.Nil(t, location.Lat)
			require.Nil(t, location.Lng)
		}
		seen[location.ID] = location
	}
}

func TestCountriesAreUsable(t *testing.T) {
	t.Parallel()
	countries, _ := Embedded()
	for _, country := range countries {
		require.Regexp(t, `^[A-Z]{2}$`, country.Code)
		require.NotEmpty(t, country.Name)
		require.Regexp(t, `^\+\d{1,3}$`, country.PhonePrefix)
		require.Regexp(t, `^[A-Z]{3}$`, country.Currency)
		_, err := time.LoadLocation(country.Timezone)
		require.NoError(t, err)
	}
	require.Contains(t, countries, Country{
		Code: "PE", Name: "Perú", PhonePrefix: "+51", Currency: "PEN", Timezone: "America/Lima", DocumentName: "DNI",
	})
}

// Clients keep location ids, so none may ever change.
func TestIDsAreStable(t *testing.T) {
	t.Parallel()
	for id, want := range map[uuid.UUID]string{
		CountryID("PE"):                       "ccec0945-8e9e-50d8-95ac-11d87951a295",
		CityID("PE", "1501"):                  "74d34069-083d-52cd-97c2-668f0dd0e3a8",
		DistrictID("PE", "150122"):            "54c51d2b-049b-53b9-93ac-fa910f68ea0d",
		ZoneID("PE", "150122", "San Antonio"): "512ccc6c-2ac9-5ee8-bea2-547056516af1",
	} {
		require.Equal(t, want, id.String())
	}
	require.Equal(t, ZoneID("PE", "150110", "Año Nuevo"), ZoneID("PE", "150110", " ANO  nuevo"))
}

func TestTheLicenceNoticesTravelWithTheData(t *testing.T) {
	t.Parallel()
	notice, err := data.ReadFile("data/SOURCES.md")
	require.NoError(t, err)
	require.Contains(t, string(notice), "Permission is hereby granted")
}
