package panel

import (
	"net/url"
	"strconv"
)

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
