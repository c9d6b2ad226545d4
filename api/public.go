package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/textnorm"
)

const (
	searchResults = 20
	searchLetters = 2
	maxUbigeos    = 500
)

type countryView struct {
	Code        string `json:"code"`
	Name        string `json:"name"`
	PhonePrefix string `json:"phone_prefix"`
	Currency    string `json:"currency"`
}

type locationView struct {
	ID         uuid.UUID            `json:"id"`
	Type       catalog.LocationType `json:"type"`
	Name       string               `json:"name"`
	Ubigeo     *string              `json:"ubigeo"`
	ParentID   *uuid.UUID           `json:"parent_id"`
	City       *string              `json:"city"`
	Department *string              `json:"department"`
	Lat        *float64             `json:"lat"`
	Lng        *float64             `json:"lng"`
}

type districtView struct {
	locationView
	Zones []locationView `json:"zones"`
}

type ubigeoView struct {
	Ubigeo     string     `json:"ubigeo"`
	LocationID *uuid.UUID `json:"location_id"`
	Name       *string    `json:"name"`
}

func (s *Server) listCountries(c *gin.Context) error {
	index, err := s.catalog.Index(c.Request.Context())
	if err != nil {
		return err
	}
	countries := index.Countries()
	list := make([]countryView, len(countries))
	for i, country := range countries {
		list[i] = countryView{Code: country.Code, Name: country.Name, PhonePrefix: country.PhonePrefix,
			Currency: country.Currency}
	}
	return respondCached(c, envelope{Data: list})
}

// listCities lists the cities where an active operator covers something.
func (s *Server) listCities(c *gin.Context) error {
	index, country, err := s.catalogOf(c)
	if err != nil {
		return err
	}
	covered, err := s.db.CoveredLocations(c.Request.Context(), country.Code)
	if err != nil {
		return err
	}
	return respondCached(c, envelope{Data: locationViews(index.Cities(covered))})
}

func (s *Server) locationTree(c *gin.Context) error {
	index, country, err := s.catalogOf(c)
	if err != nil {
		return err
	}
	wanted, err := requiredParameter(c, "city")
	if err != nil {
		return err
	}
	city, known := index.CityByNameOrID(country.Code, wanted)
	if !known {
		return apperror.New(apperror.NotFound, "city_not_found", "La ciudad no está en el catálogo.")
	}
	branches := index.Tree(city.ID)
	list := make([]districtView, len(branches))
	for i, branch := range branches {
		list[i] = districtView{locationView: viewOf(branch.District), Zones: locationViews(branch.Zones)}
	}
	return respondCached(c, envelope{Data: list})
}

var ubigeoForm = regexp.MustCompile(`^[0-9]{6}$`)

func (s *Server) locationsByUbigeo(c *gin.Context) error {
	index, country, err := s.catalogOf(c)
	if err != nil {
		return err
	}
	given, err := requiredParameter(c, "codes")
	if err != nil {
		return err
	}
	codes := strings.FieldsFunc(given, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	switch {
	case len(codes) == 0:
		return wrongParameter("codes", jsonbody.MissingMessage)
	case len(codes) > maxUbigeos:
		return wrongParameter("codes", "admite como máximo 500 códigos")
	}
	list := make([]ubigeoView, len(codes))
	var unknown []string
	for i, code := range codes {
		if !ubigeoForm.MatchString(code) {
			return wrongParameter("codes", "cada código tiene seis dígitos, por ejemplo 150122")
		}
		list[i] = ubigeoView{Ubigeo: code}
		district, known := index.ByUbigeo(country.Code, code)
		if !known {
			unknown = append(unknown, code)
			continue
		}
		list[i].LocationID, list[i].Name = &district.ID, &district.Name
	}
	answer := envelope{Data: list}
	if len(unknown) > 0 {
		answer.Message = "Códigos desconocidos: " + strings.Join(unknown, ", ") + "."
	}
	return respondCached(c, answer)
}

func (s *Server) searchLocations(c *gin.Context) error {
	index, country, err := s.catalogOf(c)
	if err != nil {
		return err
	}
	var wrong apperror.Fields
	text := textnorm.String(textParameter(c, "q", &wrong))
	if err := wrong.Err(); err != nil {
		return err
	}
	if len([]rune(strings.ReplaceAll(text, " ", ""))) < searchLetters {
		return wrongParameter("q", "debe tener al menos dos letras")
	}
	return respondCached(c, envelope{Data: locationViews(index.Search(country.Code, text, searchResults))})
}

func (s *Server) locationChildren(c *gin.Context) error {
	notFound := apperror.New(apperror.NotFound, "location_not_found", "La ubicación no está en el catálogo.")
	id, err := pathID(c, notFound)
	if err != nil {
		return err
	}
	index, err := s.catalog.Index(c.Request.Context())
	if err != nil {
		return err
	}
	if _, known := index.Location(id); !known {
		return notFound
	}
	return respondCached(c, envelope{Data: locationViews(index.Children(id))})
}

// catalogOf reads the country parameter that every catalog request has.
func (s *Server) catalogOf(c *gin.Context) (*catalog.Index, catalog.Country, error) {
	index, err := s.catalog.Index(c.Request.Context())
	if err != nil {
		return nil, catalog.Country{}, err
	}
	code, err := requiredParameter(c, "country_code")
	if err != nil {
		return nil, catalog.Country{}, err
	}
	country, known := index.Country(strings.ToUpper(code))
	if !known {
		return nil, catalog.Country{}, wrongParameter("country_code", "no es un país del catálogo")
	}
	return index, country, nil
}

// requiredParameter reads a parameter that may not be blank.
func requiredParameter(c *gin.Context, name string) (string, error) {
	var wrong apperror.Fields
	text := strings.TrimSpace(textParameter(c, name, &wrong))
	if text == "" {
		wrong.Add(name, jsonbody.MissingMessage)
	}
	return text, wrong.Err()
}

func wrongParameter(name, message string) error {
	var wrong apperror.Fields
	wrong.Add(name, message)
	return wrong.Err()
}

// respondCached responds with a Cache-Control for data that changes rarely.
func respondCached(c *gin.Context, e envelope) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return serveWithETag(c, jsonType, etagOf(content), content)
}

func locationViews(locations []catalog.Location) []locationView {
	views := make([]locationView, len(locations))
	for i, location := range locations {
		views[i] = viewOf(location)
	}
	return views
}

func viewOf(l catalog.Location) locationView {
	return locationView{
		ID: l.ID, Type: l.Type, Name: l.Name, Ubigeo: orNull(l.Ubigeo), ParentID: l.ParentID,
		City: orNull(l.City), Department: orNull(l.Department), Lat: l.Lat, Lng: l.Lng,
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
