package csvfile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const utf8Mark = "\xef\xbb\xbf"

// decode detects a file's encoding. What is not Unicode is read as Windows-1252, which spreadsheet
// programs in the Americas and western Europe write: every byte sequence is valid in it, so it
// cannot be checked.
func decode(content []byte) (string, error) {
	switch {
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")):
		return "", ErrOldWorkbook
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
		text = strings.ReplaceAll(text, "\r", "\n") // old Mac line endings
	}
	return text, nil
}

// delimiters are the possible ones; of those that occur equally often in a header the first is
// used.
const delimiters = ";,\t"

// delimiterOf detects the delimiter in the header, which rarely has one inside a cell. A first line
// such as "sep=;", which some programs write and none shows as a row, takes precedence.
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
