package jsonbody

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"despacho/internal/apperror"
)

// FormField is the type of a form field; forms only carry text.
type FormField int

// The types of form fields. Fields that are not listed are text.
const (
	FormText FormField = iota
	// FormNumber is a number; blank means absent.
	FormNumber
	// FormFlag is a check box: absent means false.
	FormFlag
	// FormList is all values of one name.
	FormList
	// FormLines is a list with one element per line.
	FormLines
	// FormReference is an id; blank means absent.
	FormReference
)

// FromForm converts form fields to the Object of an equivalent JSON body.
func FromForm(values map[string][]string, fields map[string]FormField) (*Object, error) {
	names := slices.Collect(maps.Keys(values))
	for name, kind := range fields {
		if _, sent := values[name]; !sent && (kind == FormFlag || kind == FormList) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var wrong apperror.Fields
	raw := jsontext.Value("{")
	for i, name := range names {
		if i > 0 {
			raw = append(raw, ',')
		}
		member, problem := formMember(values[name], fields[name])
		if !utf8.ValidString(name) || slices.ContainsFunc(values[name],
			func(value string) bool { return !utf8.ValidString(value) }) {
			problem = "tiene caracteres que no están en UTF-8"
		}
		if problem != "" {
			wrong.Add(strings.ToValidUTF8(name, "\ufffd"), problem)
		}
		raw = append(appendText(raw, name), ':')
		raw = append(raw, member...)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return Parse(append(raw, '}'))
}

// formMember converts a field to JSON, or returns what is wrong with it.
func formMember(values []string, kind FormField) (member jsontext.Value, problem string) {
	if kind == FormList {
		return textList(values), ""
	}
	if len(values) > 1 {
		return jsontext.Value("null"), "llegó más de una vez"
	}
	value := strings.Join(values, "")
	switch kind {
	case FormFlag:
		return jsontext.Value(strconv.FormatBool(value != "" && value != "false")), ""
	case FormLines:
		return textList(strings.Split(value, "\n")), ""
	case FormReference:
		if strings.TrimSpace(value) == "" {
			return jsontext.Value("null"), ""
		}
	case FormNumber:
		trimmed := strings.TrimSpace(value)
		if trimmed == "" {
			return jsontext.Value("null"), ""
		}
		if number := jsontext.Value(trimmed); number.IsValid() && number.Kind() == '0' {
			return number, ""
		}
	}
	return appendText(nil, value), ""
}

func textList(values []string) jsontext.Value {
	list := jsontext.Value("[")
	for i, value := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = appendText(list, strings.TrimSuffix(value, "\r"))
	}
	return append(list, ']')
}

// appendText quotes a text. Its only error is invalid UTF-8, which FromForm rejects.
func appendText(to jsontext.Value, text string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(to, text)
	return quoted
}
