package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/models"
	"despacho/test/apptest"
)

var locationMembers = []string{"city", "department", "id", "lat", "lng", "name", "parent_id", "type", "ubigeo"}

func catalogList(t *testing.T, s *apptest.Service, path string) []map[string]any {
	t.Helper()
	return listed(t, get(t, s, "", path))
}

func TestContract_4_5_countries(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		require.Contains(t, catalogList(t, s, "/public/countries"), map[string]any{"code": "PE", "name": "Perú", "phone_prefix": "+51", "currency": "PEN"})
	})
}

// Operating cities: those where an active operator covers something, itself or a part of it.
func TestContract_4_5_cities(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		covering := func(location uuid.UUID, change ...func(*models.Operator)) {
			tenant := s.NewTenant(t, change...)
			tenant.Change(t, &models.Coverage{ID: uuid.New(), OperatorID: tenant.Operator.ID, LocationID: location, CreatedAt: apptest.FrozenAt})
		}
		tacna, _ := district(t, s, "Tacna", "Tacna")
		puno, punoCity := district(t, s, "Puno", "Puno")
		covering(puno)
		covering(tacna, func(o *models.Operator) { since := apptest.FrozenAt; o.SuspendedAt = &since })

		cities := catalogList(t, s, "/public/cities?country_code=PE")
		names := column(cities, "name")
		require.Contains(t, names, "Lima")
		require.Contains(t, names, "Puno", "a covered district makes its city an operating one")
		require.NotContains(t, names, "Tacna", "a suspended operator operates nowhere")
		require.NotContains(t, names, "Iquitos")
		require.True(t, slices.IsSortedFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) }), "%v", names)
		for _, city := range cities {
			require.Equal(t, "city", city["type"])
			require.Len(t, city, len(locationMembers))
		}
		require.Contains(t, column(cities, "id"), punoCity)
		require.Empty(t, catalogList(t, s, "/public/cities?country_code=CL"), "nobody operates there")
	})
}

// district finds a district by its name and its city's.
func district(t *testing.T, s *apptest.Service, name, city string) (id uuid.UUID, cityID any) {
	t.Helper()
	for _, found := range catalogList(t, s, "/public/locations?country_code=PE&q="+name) {
		if found["type"] == "district" && found["name"] == name && found["city"] == city {
			return uuid.MustParse(found["id"].(string)), found["parent_id"]
		}
	}
	require.Fail(t, "no such district", "%s in %s", name, city)
	return uuid.Nil, nil
}

// Districts of the city with their zones; the city by name, accents and case ignored, or by id.
func TestContract_4_5_tree(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		answer := get(t, s, "", "/public/locations/tree?country_code=PE&city=Lima")
		lima := listed(t, answer)
		require.Len(t, lima, 43)
		for _, same := range []string{"lima", "%20LIMA%20", "L%C3%ADma", apptest.Lima.String()} {
			require.Equal(t, answer.Text, get(t, s, "", "/public/locations/tree?country_code=pe&city="+same).Text, same)
		}
		at := slices.Index(column(lima, "name"), any("Miraflores"))
		miraflores := lima[at]
		require.Equal(t, "54c51d2b-049b-53b9-93ac-fa910f68ea0d", miraflores["id"])
		require.Equal(t, "district", miraflores["type"])
		require.Equal(t, "150122", miraflores["ubigeo"])
		require.Equal(t, apptest.Lima.String(), miraflores["parent_id"])
		require.Equal(t, "Lima", miraflores["city"])
		require.Len(t, miraflores, len(locationMembers)+1, "the record and its zones")
		zones := objects(t, miraflores["zones"].([]any))
		require.Equal(t, []any{"Aurora", "San Antonio", "Santa Cruz"}, column(zones, "name"))
		require.Equal(t, map[string]any{
			"id": catalog.ZoneID("PE", "150122", "Aurora").String(), "type": "zone", "name": "Aurora", "ubigeo": nil, "parent_id": miraflores["id"],
			"city": "Lima", "department": "Lima", "lat": nil, "lng": nil,
		}, zones[0])
		require.Equal(t, []any{}, lima[0]["zones"], "a district without zones has an empty list")

		require.NotEmpty(t, catalogList(t, s, "/public/locations/tree?country_code=PE&city=ferrenafe"), "Ferreñafe")
		requireRefused(t, get(t, s, "", "/public/locations/tree?country_code=PE&city=Atlantis"), http.StatusNotFound, "city_not_found")
		requireRefused(t, get(t, s, "", "/public/locations/tree?country_code=PE&city="+apptest.Miraflores.String()), http.StatusNotFound, "city_not_found")
		requireRefused(t, get(t, s, "", "/public/locations/tree?country_code=CL&city=Lima"), http.StatusNotFound, "city_not_found")
		requireWrongFields(t, get(t, s, "", "/public/locations/tree?country_code=PE"), "city")
	})
}

// location_id values for ubigeo codes (also section 2.6): those of the national statistics
// institute.
func TestContract_4_5_ubigeo(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		found := get(t, s, "", "/public/locations/ubigeo?country_code=PE&codes=150122,150140")
		require.Equal(t, []map[string]any{
			{"ubigeo": "150122", "location_id": apptest.Miraflores.String(), "name": "Miraflores"},
			{"ubigeo": "150140", "location_id": apptest.Surco.String(), "name": "Santiago de Surco"},
		}, listed(t, found))
		require.Empty(t, found.Message)

		answer := get(t, s, "", "/public/locations/ubigeo?country_code=PE&codes=999999,150122,%20888888")
		require.Equal(t, []map[string]any{
			{"ubigeo": "999999", "location_id": nil, "name": nil},
			{"ubigeo": "150122", "location_id": apptest.Miraflores.String(), "name": "Miraflores"},
			{"ubigeo": "888888", "location_id": nil, "name": nil},
		}, listed(t, answer))
		require.Contains(t, answer.Message, "999999")
		require.Contains(t, answer.Message, "888888")
		require.NotContains(t, answer.Message, "150122")

		most := strings.TrimSuffix(strings.Repeat("150122,", 500), ",")
		require.Len(t, catalogList(t, s, "/public/locations/ubigeo?country_code=PE&codes="+most), 500)
		for _, wrong := range []string{"", "&codes=", "&codes=,,", "&codes=" + most + ",150122", "&codes=15012", "&codes=Miraflores", "&codes=150122,x", "&codes=%00"} {
			requireWrongFields(t, get(t, s, "", "/public/locations/ubigeo?country_code=PE"+wrong), "codes")
		}
	})
}

// Text search: accents and case ignored, prefixes first, at most 20, at least two letters.
func TestContract_4_5_search(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for _, q := range []string{"brena", "BRE%C3%91A", "Bre%C3%B1a", "bren%CC%83a"} {
			first := catalogList(t, s, "/public/locations?country_code=PE&q="+q)[0]
			require.Equal(t, "Breña", first["name"], q)
			require.Equal(t, "150105", first["ubigeo"])
			require.Len(t, first, len(locationMembers))
		}
		many := column(catalogList(t, s, "/public/locations?country_code=PE&q=mira"), "name")
		require.LessOrEqual(t, len(many), 20)
		afterPrefixes := slices.IndexFunc(many, func(name any) bool { return !strings.HasPrefix(name.(string), "Mira") })
		require.Positive(t, afterPrefixes, "some begin with it and some have it inside: %v", many)
		for _, name := range many[afterPrefixes:] {
			require.False(t, strings.HasPrefix(name.(string), "Mira"), "prefix matches first: %v", many)
		}
		require.Len(t, catalogList(t, s, "/public/locations?country_code=PE&q=san"), 20)
		require.Empty(t, catalogList(t, s, "/public/locations?country_code=PE&q=xyzzy"))
		require.Contains(t, column(catalogList(t, s, "/public/locations?country_code=PE&q=monterrico"), "type"), "zone")
		for _, wrong := range []string{"", "&q=", "&q=a", "&q=%C3%A1", "&q=%20a%20", "&q=--", "&q=%00%00", "&q=%ff%ff"} {
			requireWrongFields(t, get(t, s, "", "/public/locations?country_code=PE"+wrong), "q")
		}
	})
}

// Zones of a district.
func TestContract_4_5_children(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		path := func(id string) string { return "/public/locations/" + id + "/children" }
		zones := catalogList(t, s, path(apptest.Miraflores.String()))
		require.Equal(t, []any{"Aurora", "San Antonio", "Santa Cruz"}, column(zones, "name"))
		require.Empty(t, catalogList(t, s, path(apptest.Cusco.String())), "no zones is an empty list")
		require.Len(t, catalogList(t, s, path(apptest.Lima.String())), 43, "of a city, its districts")
		for _, unknown := range []string{uuid.NewString(), "miraflores", "%00"} {
			requireRefused(t, get(t, s, "", path(unknown)), http.StatusNotFound, "location_not_found")
		}
	})
}

// country_code is needed and has to be one of the catalog.
func TestContract_4_5_countryCode(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for _, path := range []string{"/public/cities?", "/public/locations/tree?city=Lima&", "/public/locations/ubigeo?codes=150122&", "/public/locations?q=lima&"} {
			for _, wrong := range []string{"", "country_code=", "country_code=XX", "country_code=Peru", "country_code=%00", "country_code=%ff"} {
				requireWrongFields(t, get(t, s, "", path+wrong), "country_code")
			}
		}
	})
}

// The catalog should be cached by clients: ETag, Cache-Control, and 304 for a copy that is current
// (section 2.6).
func TestContract_4_5_cached(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for _, path := range []string{
			"/public/countries", "/public/locations/tree?country_code=PE&city=Lima", "/public/locations/ubigeo?country_code=PE&codes=150122",
			"/public/locations?country_code=PE&q=lima", "/public/locations/" + apptest.Miraflores.String() + "/children",
		} {
			first := get(t, s, "", path)
			tag := first.Header.Get("ETag")
			require.Regexp(t, `^"[^"]+"$`, tag)
			require.Contains(t, first.Header.Get("Cache-Control"), "max-age=")
			require.Contains(t, first.Header.Get("Cache-Control"), "public")
			for _, known := range []string{tag, "W/" + tag, `"otro", ` + tag, "*"} {
				again := s.Do(t, apptest.Request{Method: "GET", Path: path, Header: map[string]string{"If-None-Match": known}})
				require.Equal(t, http.StatusNotModified, again.Status)
				require.Empty(t, again.Text)
				require.Equal(t, tag, again.Header.Get("ETag"))
			}
			stale := s.Do(t, apptest.Request{Method: "GET", Path: path, Header: map[string]string{"If-None-Match": `"otro"`}})
			require.Equal(t, first.Text, stale.Text)
		}
		refused := get(t, s, "", "/public/cities?country_code=XX")
		require.Empty(t, refused.Header.Get("ETag"), "an error is nothing to keep")
		require.Equal(t, "no-store", refused.Header.Get("Cache-Control"))
	})
}

// Catalog requests carry no key and are not counted toward the rate limit (sections 2.6, 5.8 and
// 8).
func TestContract_4_5_notCounted(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, apptest.OnPlan(models.PlanPro))
		before := get(t, s, tenant.Key, "/v1/stores").Header.Get("RateLimit")
		require.Equal(t, `"minute";r=99;t=30`, before)
		require.Equal(t, map[int]int{http.StatusOK: 150}, inParallel(t, 150, func(int) apptest.Request {
			return apptest.Request{Method: "GET", Path: "/public/countries", Key: tenant.Key}
		}, s))
		require.Equal(t, `"minute";r=98;t=30`, get(t, s, tenant.Key, "/v1/stores").Header.Get("RateLimit"))
		require.Equal(t, http.StatusOK, get(t, s, "no es una clave", "/public/countries").Status, "whatever key comes along is not looked at")
	})
}
