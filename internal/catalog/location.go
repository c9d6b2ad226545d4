// Package catalog has the locations that orders are addressed to: countries, cities, districts and
// zones, embedded in the binary and searched in memory.
package catalog

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/textnorm"
)

// LocationType is the level of a location in country → city → district → zone.
type LocationType string

// The levels, from the largest to the smallest.
const (
	TypeCountry  LocationType = "country"
	TypeCity     LocationType = "city" // in Peru, a province
	TypeDistrict LocationType = "district"
	TypeZone     LocationType = "zone" // a part of a district that people know by name
)

var levels = []LocationType{TypeCountry, TypeCity, TypeDistrict, TypeZone}

// depth is the number of levels above t.
func (t LocationType) depth() int {
	return slices.Index(levels, t)
}

// Country is a country the service can work in.
type Country struct {
	Code         string // ISO 3166-1 alpha-2
	Name         string
	PhonePrefix  string // with its plus sign
	Currency     string // ISO 4217
	Timezone     string // IANA name, that of the capital
	DocumentName string // its national identity document; empty where there is no single one
}

// Location is a place of any level.
type Location struct {
	ID          uuid.UUID
	Type        LocationType
	Name        string
	Alias       string     // another name that people look for it by; zones only, never shown
	Ubigeo      string     // INEI code of six digits; districts only
	Reniec      string     // RENIEC's code for the same district, another numbering; never shown
	ParentID    *uuid.UUID // nil for countries
	CountryCode string
	City        string   // name of the city it is, or lies in; empty for countries
	Department  string   // likewise
	Lat, Lng    *float64 // both or neither: the district's seat of government, not its centre
}

// CountryID returns the id of a country's location.
func CountryID(country string) uuid.UUID {
	return locationID(country)
}

// CityID returns the id of a city: in Peru, by the four-digit INEI code of its
// province.
func CityID(country, provinceCode string) uuid.UUID {
	return locationID(country, provinceCode)
}

// DistrictID returns the id of a district by its six-digit INEI code.
func DistrictID(country, ubigeo string) uuid.UUID {
	return locationID(country, ubigeo)
}

// ZoneID returns the id of a zone. Spellings that differ only in accents, case or punctuation have
// the same id.
func ZoneID(country, ubigeo, name string) uuid.UUID {
	return locationID(country, ubigeo, textnorm.Slug(name))
}

// PathNames returns the normalized names of a place and its ancestors, given nearest first as by
// Ancestors, from the largest down. Sorted by it, places are ordered by name, each after those that
// contain it.
func PathNames(places []Location) []string {
	names := make([]string, len(places))
	for i, place := range places {
		names[len(places)-1-i] = textnorm.String(place.Name)
	}
	return names
}

// locationID derives the id only from the path of codes, so that a place has the same id in every
// installation.
func locationID(path ...string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("despacho:location:"+strings.Join(path, ":")))
}

// NewZone returns a zone of a district.
func NewZone(district Location, name string) Location {
	return Location{
		ID:          ZoneID(district.CountryCode, district.Ubigeo, name),
		Type:        TypeZone,
		Name:        name,
		ParentID:    &district.ID,
		CountryCode: district.CountryCode,
		City:        district.City,
		Department:  district.Department,
	}
}
