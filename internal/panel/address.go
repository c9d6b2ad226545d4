package panel

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
)

// pathID reads the id in the path. An invalid one is not found.
func pathID(v *Request, notFound error) (uuid.UUID, error) {
	id, ok := jsonbody.ParseUUID(v.Param("id"))
	if !ok {
		return uuid.Nil, notFound
	}
	return id, nil
}

// withQuery is the URL of a path with the parameters that are not empty.
func withQuery(path string, parameters map[string]string) string {
	values := url.Values{}
	for name, value := range parameters {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// withParameter adds a parameter to an address.
func withParameter(address, name, value string) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + name + "=" + url.QueryEscape(value)
}

// pageParameter is the number of a page as URLs have it: the first page has none.
func pageParameter(number int) string {
	if number <= 1 {
		return ""
	}
	return strconv.Itoa(number)
}

// ifSet is the value of a parameter that is only there if a condition holds.
func ifSet(condition bool, value string) string {
	if !condition {
		return ""
	}
	return value
}
