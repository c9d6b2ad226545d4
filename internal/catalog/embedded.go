package catalog

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// SOURCES.md is embedded with the data because it has the licence notices that every copy must
// include.
//
//go:embed data
var data embed.FS

// provinceDigits is the length of the part of a ubigeo that names the province.
const provinceDigits = 4

// Embedded returns the countries, and the locations that need no database: every country and, for
// Peru, its provinces as cities and all its districts. Parents come before their children.
func Embedded() ([]Country, []Location) {
	countries, locations := embedded()
	return slices.Clone(countries), slices.Clone(locations)
}

// embedded reads the data once.
var embedded = sync.OnceValues(func() ([]Country, []Location) {
	countries := embeddedCountries()
	locations := make([]Location, 0, 2200)
	for _, country := range countries {
		locations = append(locations, Location{
			ID:          CountryID(country.Code),
			Type:        TypeCountry,
			Name:        country.Name,
			CountryCode: country.Code,
		})
	}
	return countries, append(locations, peruvianLocations()...)
})

func embeddedCountries() []Country {
	var countries []Country
	for _, row := range rows("data/countries.csv", "code", "name", "phone_prefix", "currency", "timezone", "document_name") {
		countries = append(countries, Country{
			Code: row[0], Name: row[1], PhonePrefix: row[2], Currency: row[3], Timezone: row[4], DocumentName: row[5],
		})
	}
	return countries
}

func peruvianLocations() []Location {
	const country = "PE"
	countryID := CountryID(country)
	var locations []Location
	var city Location
	for _, row := range rows("data/peru_districts.csv",
		"ubigeo_inei", "ubigeo_reniec", "department", "province", "district", "lat", "lng") {
		ubigeo, reniec, department, province, name := row[0], row[1], row[2], row[3], row[4]
		// The file is sorted by ubigeo, so the districts of a province are adjacent.
		if cityID := CityID(country, ubigeo[:provinceDigits]); cityID != city.ID {
			city = Location{
				ID:          cityID,
				Type:        TypeCity,
				Name:        province,
				ParentID:    &countryID,
				CountryCode: country,
				City:        province,
				Department:  department,
			}
			locations = append(locations, city)
		}
		parentID := city.ID
		locations = append(locations, Location{
			ID:          DistrictID(country, ubigeo),
			Type:        TypeDistrict,
			Name:        name,
			Ubigeo:      ubigeo,
			Reniec:      reniec,
			ParentID:    &parentID,
			CountryCode: country,
			City:        province,
			Department:  department,
			Lat:         degrees(row[5]),
			Lng:         degrees(row[6]),
		})
	}
	return locations
}

// rows reads an embedded table and checks its columns. The data is part of the program, so an error
// in it is a bug: it panics.
func rows(file string, columns ...string) [][]string {
	opened, err := data.Open(file)
	if err != nil {
		panic(fmt.Errorf("catalog: %w", err))
	}
	defer opened.Close()
	records, err := csv.NewReader(opened).ReadAll()
	if err != nil {
		panic(fmt.Errorf("catalog: %s: %w", file, err))
	}
	if header := records[0]; fmt.Sprint(header) != fmt.Sprint(columns) {
		panic(fmt.Errorf("catalog: %s has columns %v, not %v", file, header, columns))
	}
	return records[1:]
}

func degrees(text string) *float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Errorf("catalog: %w", err))
	}
	return &value
}
