package maplink

import (
	"regexp"
	"strings"
	"unicode"
)

// markup is what mail and chat applications append to a link, up to the end of the text.
var markup = []string{"<", "%3C", "%3c", `">`, "&lt;"}

const (
	openers = `<([{"'“‘«*`
	// closers does not include - _ ~ and =, which end real codes, nor ), which may close a name.
	closers = `.,;:!?"'”’»*>]}|\…`
)

// clean removes what surrounds a pasted link: white space, words, quotes, markup, punctuation.
func clean(raw string) string {
	text := strings.TrimFunc(raw, invisible)
	if found := httpLink.FindStringSubmatchIndex(text); found != nil {
		text = text[found[2]:]
	}
	text = strings.TrimLeft(text, openers)
	if end := strings.IndexAny(text, "\r\n\t"); end >= 0 {
		text = text[:end]
	}
	for _, junk := range markup {
		text, _, _ = strings.Cut(text, junk)
	}
	return trimEnd(text)
}

// httpLink finds an http link at the start of the text or after a space, a colon or an opening
// mark. A link in another link's parameters does not count.
var httpLink = regexp.MustCompile(`(?i)(?:^|[\s\p{Z}:` + regexp.QuoteMeta(openers) + `])(https?://)`)

// trimEnd removes the punctuation of the surrounding sentence, and closing brackets without an
// opening one.
func trimEnd(text string) string {
	unopened := strings.Count(text, ")") - strings.Count(text, "(")
	for {
		text = strings.TrimRightFunc(text, func(r rune) bool { return invisible(r) || strings.ContainsRune(closers, r) })
		if unopened <= 0 || !strings.HasSuffix(text, ")") {
			return text
		}
		text = text[:len(text)-1]
		unopened--
	}
}

// invisible reports whether a character is not visible: white space, control and direction marks.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
