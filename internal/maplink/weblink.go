package maplink

import (
	"errors"
	"strings"
)

// WebLink returns the address to open for what was sent as a map link: the http or https link in
// the text, of any host, or a link to a known map without a scheme. It is empty if there is none.
func WebLink(raw string) string {
	text := clean(raw)
	if first, _, spaced := strings.Cut(text, " "); spaced && !endsAfter(text, first) {
		text = trimEnd(first)
	}
	for _, scheme := range []string{"https://", "http://"} {
		if rest, found := cutPrefixFold(text, scheme); found {
			if rest == "" {
				return ""
			}
			return scheme + rest
		}
	}
	if l := splitLink(text); serviceOf(l.host, l.rawPath) != serviceUnknown {
		return "https://" + text
	}
	return ""
}

// endsAfter reports whether a link with raw spaces, such as "q=-12.04, -77.04", goes on after its
// first word: only the whole has the point. Otherwise words follow the link.
func endsAfter(text, first string) bool {
	_, cut := Parse(first)
	_, whole := Parse(text)
	return errors.Is(cut, ErrNoPoint) && whole == nil
}
