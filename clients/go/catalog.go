package despacho

import (
	"context"
	"net/url"
	"strings"
)

// LookupUbigeo turns INEI ubigeo codes into locations, in the order of the codes.
func (c *Client) LookupUbigeo(ctx context.Context, countryCode string, codes ...string) ([]UbigeoMatch, error) {
	var answer UbigeoListResponse
	_, err := c.do(ctx, read("/public/locations/ubigeo", url.Values{"country_code": {countryCode}, "codes": {strings.Join(codes, ",")}}), &answer)
	return answer.Data, err
}

// SearchLocations finds cities, districts and zones by the beginning of their names.
func (c *Client) SearchLocations(ctx context.Context, countryCode, text string) ([]Location, error) {
	var answer LocationListResponse
	_, err := c.do(ctx, read("/public/locations", url.Values{"country_code": {countryCode}, "q": {text}}), &answer)
	return answer.Data, err
}
