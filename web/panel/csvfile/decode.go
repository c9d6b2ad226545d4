package csvfile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const utf8Mark = "\xef\xbb\xbf"

// decode finds out which encoding a file is in. What is not Unicode is taken for Windows-1252,
// which spreadsheet programs in the Americas and western Europe write: every text is valid in it,
// so nothing better can be said.
func decode(content []byte) (string, error) {
	switch {
	case bytes.HasPrefix(content, []byte("PK\x03\x04")), bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")):
		return "", ErrWorkbook
	case bytes.HasPrefix(content, []byte("\xff\xfe")), bytes.HasPrefix(content, []byte("\xfe\xff")):
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(content)
		if err != nil {
			return "", ErrNotText
		}
		content = decoded
	case !utf8.Valid(content):
		decoded, err := charmap.Windows1252.NewDecoder().Bytes(content)
		if err != nil {
			return "", ErrNotText
		}
		content = decoded
	}
	text := strings.TrimPrefix(string(content), utf8Mark)
	if strings.ContainsRune(text, 0) {
		return "", ErrNotText
	}
	if strings.TrimSpace(text) == "" {
		return "", ErrEmpty
	}
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n") // as programs on old Macs end lines
	}
	return text, nil
}

// delimiters are what programs part cells with; of those that a header has equally often the first
// counts.
const delimiters = ";,\t"

// delimiterOf finds the delimiter in the header, which has few reasons to hold one inside a cell. A
// first line such as "sep=;", which some programs write and none shows as a row, decides it at
// once.
func delimiterOf(text string) (delimiter rune, rest string) {
	start := len(text) - len(strings.TrimLeft(text, "\r\n"))
	header, after, _ := strings.Cut(text[start:], "\n")
	named := strings.TrimSuffix(header, "\r")
	if len(named) == len("sep=;") && strings.EqualFold(named[:4], "sep=") && strings.Contains(delimiters, named[4:]) {
		return rune(named[4]), text[:start] + after
	}
	counts := map[rune]int{}
	quoted := false
	for _, r := range header {
		if r == '"' {
			quoted = !quoted
		}
		if !quoted {
			counts[r]++
		}
	}
	delimiter = rune(delimiters[0])
	for _, candidate := range delimiters {
		if counts[candidate] > counts[delimiter] {
			delimiter = candidate
		}
	}
	return delimiter, text
}
