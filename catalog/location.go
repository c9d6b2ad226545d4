// Package catalog is the geography orders are addressed by: countries, cities,
// districts and zones, embedded in the binary and searched in memory.
package catalog

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/textnorm"
)

// LocationType is the level of a location in country → city → district → zone.
type LocationType string

// The levels, from the widest to the narrowest.
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

// Country is what the service needs to know of a country it can work in.
type Country struct {
	Code         string // ISO 3166-1 alpha-2
	Name         string
	PhonePrefix  string // with its plus sign
	Currency     string // ISO 4217
	Timezone     string // IANA name, that of the capital
	DocumentName string // what its identity document is called; empty where there is no single one
}

// Location is a place of any level.
type Location struct {
	ID          uuid.UUID
	Type        LocationType
	Name        string
	Ubigeo      string     // INEI code of six digits; districts only
	Reniec      string     // RENIEC's code for the same district, another numbering; never shown
	ParentID    *uuid.UUID // nil for countries
	CountryCode string
	City        string   // name of the city it is, or lies in; empty for countries
	Department  string   // likewise
	Lat, Lng    *float64 // both or neither: the town a district is ruled from, not its centre
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

// ZoneID returns the id of a zone, the same for every spelling of its name that
// differs in accents, case and punctuation alone.
func ZoneID(country, ubigeo, name string) uuid.UUID {
	return locationID(country, ubigeo, textnorm.Slug(name))
}

// PathNames returns the folded names of a place and those around it, given nearest first as
// Ancestors does, from the widest down. Sorted by it every place comes after those it lies in, by
// name.
func PathNames(places []Location) []string {
	names := make([]string, len(places))
	for i, place := range places {
		names[len(places)-1-i] = textnorm.String(place.Name)
	}
	return names
}

// locationID derives the id from the path of codes alone, so that a place has the
// same id in every installation.
func locationID(path ...string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("despacho:location:"+strings.Join(path, ":")))
}

// NewZone returns the zone of that name in a district.
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
