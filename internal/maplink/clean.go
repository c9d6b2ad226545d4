package maplink

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// markup is what mail and chat applications glue behind a link, up to the end of the text.
var markup = []string{"<", "%3C", "%3c", `">`, "&lt;"}

const (
	openers = `<([{"'“‘«*`
	// closers leaves out - _ ~ and =, which end real codes, and ), which may close a name.
	closers = `.,;:!?"'”’»*>]}|\…`
)

// clean takes a pasted link out of what surrounds it: white space, words, quotes, markup,
// punctuation.
func clean(raw string) string {
	text := strings.TrimFunc(raw, invisible)
	text = text[linkStart(text):]
	text = strings.TrimLeft(text, openers)
	if end := strings.IndexAny(text, "\r\n\t"); end >= 0 {
		text = text[:end]
	}
	for _, junk := range markup {
		text, _, _ = strings.Cut(text, junk)
	}
	return trimEnd(text)
}

// linkStart answers where the first http link begins that stands at the start of the text, behind a
// space, a colon or an opening mark; 0 where there is none. A link within another's parameters is
// not a start.
func linkStart(text string) int {
	for from := 0; ; {
		mark := strings.Index(text[from:], "://")
		if mark < 0 {
			return 0
		}
		mark += from
		for _, scheme := range []string{"https", "http"} {
			before, found := cutSuffixFold(text[:mark], scheme)
			if !found {
				continue
			}
			last, _ := utf8.DecodeLastRuneInString(before)
			if before == "" || last == ':' || unicode.IsSpace(last) || strings.ContainsRune(openers, last) {
				return len(before)
			}
		}
		from = mark + len("://")
	}
}

// trimEnd removes the punctuation of the sentence a link stood in, and brackets it did not open.
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

// invisible tells the characters that surround a pasted text unseen: white space, control and
// direction marks.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
