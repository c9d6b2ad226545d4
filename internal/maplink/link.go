package maplink

import (
	"encoding/hex"
	"regexp"
	"strings"
)

// link is a URL parsed more leniently than net/url does: people paste links that were cut, encoded
// twice or not at all. The only URL ever requested is the one that shortLinkError builds.
type link struct {
	host     string // lower case; empty when the text is not an http(s) link
	rawPath  string
	params   []param
	fragment string
}

type param struct{ key, value string }

// splitLink parses a link; the scheme may be missing, as in "waze.com/ul?ll=...".
func splitLink(text string) link {
	if scheme, rest, ok := strings.Cut(text, "://"); ok && !strings.ContainsAny(scheme, "/?#. ") {
		if !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
			return link{}
		}
		text = rest
	}
	authority, rest := text, ""
	if end := strings.IndexAny(text, `/?#\`); end >= 0 {
		authority, rest = text[:end], text[end:]
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	return link{
		host:     hostOf(authority),
		rawPath:  path,
		params:   splitQuery(query),
		fragment: unescape(fragment, false),
	}
}

// hostOf returns the host of an authority, or nothing where a user name or an unusual port makes it
// suspect.
func hostOf(authority string) string {
	host := strings.ToLower(authority)
	host = strings.TrimSuffix(host, ":443")
	host = strings.TrimSuffix(host, ":80")
	host = strings.TrimSuffix(host, ".")
	if strings.ContainsAny(host, "@: ") {
		return ""
	}
	return host
}

func splitQuery(query string) []param {
	if query == "" {
		return nil
	}
	params := make([]param, 0, strings.Count(query, "&")+1)
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		// Links copied from a page's source contain "&amp;".
		key = strings.TrimPrefix(key, "amp;")
		params = append(params, param{strings.ToLower(unescape(key, true)), unescape(value, true)})
	}
	return params
}

// param returns the first non-empty value of a parameter.
func (l link) param(key string) string {
	for _, p := range l.params {
		if p.key == key && p.value != "" {
			return p.value
		}
	}
	return ""
}

// coordinates looks for coordinates in the parameters, in the order of the keys.
func (l link) coordinates(keys ...string) func() (coordinate, bool) {
	return func() (coordinate, bool) {
		for _, key := range keys {
			if found, ok := coordinates(l.param(key)); ok {
				return found, true
			}
		}
		return coordinate{}, false
	}
}

// coordinatePair looks for a latitude and a longitude in separate parameters.
func (l link) coordinatePair(latKey, lngKey string) func() (coordinate, bool) {
	return func() (coordinate, bool) {
		return numbers(l.param(latKey), l.param(lngKey))
	}
}

// segments returns the decoded segments of the path, at least one, without leading and trailing
// slashes.
func (l link) segments() []string {
	path := strings.TrimSuffix(strings.TrimPrefix(l.rawPath, "/"), "/")
	segments := make([]string, 0, strings.Count(path, "/")+1)
	for segment := range strings.SplitSeq(path, "/") {
		segments = append(segments, unescape(segment, true))
	}
	return segments
}

// shortLinkError returns the error with the URL to request for a short link. The URL is built only
// from characters that a code can have, so that text pasted after the link is not sent.
func (l link) shortLinkError() error {
	path := l.rawPath
	if end := strings.IndexFunc(path, notInCode); end >= 0 {
		path = path[:end]
	}
	if strings.Trim(path, "/") == "" {
		return ErrNoPoint
	}
	return &ShortLink{URL: "https://" + l.host + path}
}

func notInCode(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/-_~", r))
}

var percentEscape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unescape decodes percent escapes and leaves broken ones as they are.
func unescape(text string, plusIsSpace bool) string {
	if plusIsSpace {
		text = strings.ReplaceAll(text, "+", " ")
	}
	return percentEscape.ReplaceAllStringFunc(text, func(escape string) string {
		decoded, _ := hex.DecodeString(escape[1:])
		return string(decoded)
	})
}

// cutPrefixFold removes an ASCII prefix, whatever its case.
func cutPrefixFold(text, prefix string) (rest string, found bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}
