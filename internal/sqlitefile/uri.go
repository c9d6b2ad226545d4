// Package sqlitefile writes the paths of SQLite's files as its driver takes them.
package sqlitefile

import (
	"net/url"
	"strings"
)

// URI is the address of a file, with the parameters of the driver. SQLite reads a URI: what comes
// after a "#" or a "?" in the path would not be part of it, and a "%41" would be an "A".
func URI(path string, parameters url.Values) string {
	return "file:" + literal.Replace(path) + "?" + parameters.Encode()
}

var literal = strings.NewReplacer("%", "%25", "#", "%23", "?", "%3f")
