package despacho

import (
	"context"
	"net/url"
	"strings"
)

// Cities lists the cities of a country where something is delivered, by name.
func (c *Client) Cities(ctx context.Context, countryCode string) ([]Location, error) {
	return c.locations(ctx, "/public/cities", url.Values{"country_code": {countryCode}})
}

// LocationTree lists the districts of a city with their zones. The city is its name or its id.
func (c *Client) LocationTree(ctx context.Context, countryCode, city string) ([]District, error) {
	var answer LocationTreeResponse
	_, err := c.do(ctx, read("/public/locations/tree", url.Values{"country_code": {countryCode}, "city": {city}}), &answer)
	return answer.Data, err
}

// LocationChildren lists what is right below a location: the zones of a district.
func (c *Client) LocationChildren(ctx context.Context, locationID string) ([]Location, error) {
	return c.locations(ctx, "/public/locations/"+url.PathEscape(locationID)+"/children", nil)
}

// LookupUbigeo turns INEI ubigeo codes into locations, in the order of the codes.
func (c *Client) LookupUbigeo(ctx context.Context, countryCode string, codes ...string) ([]UbigeoMatch, error) {
	var answer UbigeoListResponse
	_, err := c.do(ctx, read("/public/locations/ubigeo",
		url.Values{"country_code": {countryCode}, "codes": {strings.Join(codes, ",")}}), &answer)
	return answer.Data, err
}

// SearchLocations finds cities, districts and zones by the beginning of their names.
func (c *Client) SearchLocations(ctx context.Context, countryCode, text string) ([]Location, error) {
	return c.locations(ctx, "/public/locations", url.Values{"country_code": {countryCode}, "q": {text}})
}

func (c *Client) locations(ctx context.Context, path string, query url.Values) ([]Location, error) {
	var answer LocationListResponse
	_, err := c.do(ctx, read(path, query), &answer)
	return answer.Data, err
}
