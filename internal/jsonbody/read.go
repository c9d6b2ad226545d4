package jsonbody

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/money"
)

// Messages shared by the readers.
const (
	MissingMessage = "es obligatorio"
	notText        = "debe ser un texto"
	notNumber      = "debe ser un número"

	controlCharacters = "contiene caracteres de control"
	notUTF8           = "debe ser texto UTF-8"
)

// present returns a member that exists and is not null.
func (o *Object) present(name string) (jsontext.Value, bool) {
	value, ok := o.members[name]
	return value, ok && value.Kind() != 'n'
}

// Has reports whether the member exists and is not null.
func (o *Object) Has(name string) bool {
	_, ok := o.present(name)
	return ok
}

// Blank reports whether the member is absent, null or shows nothing.
func (o *Object) Blank(name string) bool {
	return o.scalar(name) == ""
}

// SameMember reports whether two objects have the same text, number or truth value of a member, or
// neither has one. Texts are compared as they are read: trimmed, and a UUID in whatever case.
func (o *Object) SameMember(other *Object, name string) bool {
	return o.scalar(name) == other.scalar(name)
}

// scalar is a member in the form in which it is compared; empty if it is absent, null or blank.
func (o *Object) scalar(name string) string {
	value, ok := o.present(name)
	if !ok {
		return ""
	}
	unquoted, err := jsontext.AppendUnquote(nil, value)
	if value.Kind() != '"' || err != nil {
		return string(value)
	}
	text := trim(string(unquoted))
	if id, valid := ParseUUID(text); valid {
		text = id.String()
	}
	if text == "" {
		return ""
	}
	return `"` + text
}

// HasOrNull reports whether the member exists, even as null: in a change null removes a value, and
// absence keeps it.
func (o *Object) HasOrNull(name string) bool {
	_, ok := o.members[name]
	return ok
}

// Only is the object with some of its members alone. What is wrong with them is said of the new
// one.
func (o *Object) Only(names ...string) *Object {
	members := map[string]jsontext.Value{}
	for _, name := range names {
		if value, ok := o.members[name]; ok {
			members[name] = value
		}
	}
	return &Object{raw: o.raw, members: members}
}

// Text reads a line of text, trimmed; nil when it is absent, null or blank.
func (o *Object) Text(name string, maxCharacters int) *string {
	return o.text(name, maxCharacters, false)
}

// Lines is Text for text with line breaks.
func (o *Object) Lines(name string, maxCharacters int) *string {
	return o.text(name, maxCharacters, true)
}

// RequiredText is Text for a required member.
func (o *Object) RequiredText(name string, maxCharacters int) string {
	return o.required(name, o.Text(name, maxCharacters))
}

// RequiredLines is Lines for a required member.
func (o *Object) RequiredLines(name string, maxCharacters int) string {
	return o.required(name, o.Lines(name, maxCharacters))
}

func (o *Object) required(name string, text *string) string {
	if text == nil {
		o.invalid.Add(name, MissingMessage)
		return ""
	}
	return *text
}

func (o *Object) text(name string, maxCharacters int, breaks bool) *string {
	text, ok := o.unquoted(name)
	if !ok {
		return nil
	}
	if text, ok = o.trimmed(name, text, maxCharacters, breaks); !ok || text == "" {
		return nil
	}
	return &text
}

// trimmed applies TrimText to a text of the member; ok is false where it is invalid.
func (o *Object) trimmed(name, text string, maxCharacters int, breaks bool) (trimmed string, ok bool) {
	trimmed, err := trimText(text, maxCharacters, breaks)
	if err != nil {
		o.invalid.Add(name, textProblem(err, maxCharacters))
	}
	return trimmed, err == nil
}

// Secret reads a text unchanged: the spaces of a password are part of it. It is empty when the
// member is absent.
func (o *Object) Secret(name string, maxCharacters int) string {
	text, ok := o.unquoted(name)
	if !ok || o.tooLong(name, text, maxCharacters) {
		return ""
	}
	return text
}

// RequiredSecret is Secret for a required member.
func (o *Object) RequiredSecret(name string, maxCharacters int) string {
	text := o.Secret(name, maxCharacters)
	if text == "" {
		o.invalid.Add(name, MissingMessage)
	}
	return text
}

// unquoted returns the member's text; ok is false where there is none.
func (o *Object) unquoted(name string) (text string, ok bool) {
	value, ok := o.present(name)
	if !ok {
		return "", false
	}
	unquoted, err := jsontext.AppendUnquote(nil, value)
	if value.Kind() != '"' || err != nil {
		o.invalid.Add(name, notText)
		return "", false
	}
	return string(unquoted), true
}

func (o *Object) tooLong(name, text string, maxCharacters int) bool {
	if utf8.RuneCountInString(text) <= maxCharacters {
		return false
	}
	o.invalid.Add(name, tooLongMessage(maxCharacters))
	return true
}

func tooLongMessage(maxCharacters int) string {
	return fmt.Sprintf("admite como máximo %d caracteres", maxCharacters)
}

// Enum reads one of the allowed values; nil when it is absent.
func (o *Object) Enum(name string, allowed ...string) *string {
	text := o.Text(name, 100)
	if text == nil {
		return nil
	}
	for _, word := range allowed {
		if *text == word {
			return text
		}
	}
	o.invalid.Add(name, "debe ser uno de: "+strings.Join(allowed, ", "))
	return nil
}

// UUID reads an identifier; nil when it is absent.
func (o *Object) UUID(name string) *uuid.UUID {
	text := o.Text(name, 100)
	if text == nil {
		return nil
	}
	id, ok := ParseUUID(*text)
	if !ok {
		o.invalid.Add(name, "debe ser un UUID")
		return nil
	}
	return &id
}

// RequiredUUID is UUID for a required member.
func (o *Object) RequiredUUID(name string) uuid.UUID {
	id := o.UUID(name)
	if id == nil {
		o.invalid.Add(name, MissingMessage)
		return uuid.Nil
	}
	return *id
}

// ParseUUID accepts only the standard form of a UUID, 36 characters with hyphens.
func ParseUUID(text string) (uuid.UUID, bool) {
	if len(text) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	return id, err == nil
}

// Number reads a number within bounds; nil when it is absent.
func (o *Object) Number(name string, lowest, highest float64) *float64 {
	value, ok := o.present(name)
	if !ok {
		return nil
	}
	if value.Kind() != '0' {
		o.invalid.Add(name, notNumber)
		return nil
	}
	number, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsNaN(number) || number < lowest || number > highest {
		o.invalid.Add(name, fmt.Sprintf("debe estar entre %g y %g", lowest, highest))
		return nil
	}
	return &number
}

// Money reads an amount with at most two decimals; nil when it is absent.
func (o *Object) Money(name string) *money.Cents {
	value, ok := o.present(name)
	if !ok {
		return nil
	}
	if value.Kind() != '0' {
		o.invalid.Add(name, notNumber)
		return nil
	}
	amount, err := money.Parse(string(value))
	if err != nil {
		o.invalid.Add(name, "debe ser un monto entre 0 y 999999.99 con dos decimales como máximo")
		return nil
	}
	return &amount
}

// Int reads a whole number from 1 up; nil when it is absent.
func (o *Object) Int(name string) *int { return o.IntFrom(name, 1) }

// IntFrom reads a whole number from the least one up; nil when it is absent.
func (o *Object) IntFrom(name string, least int) *int {
	value, ok := o.present(name)
	if !ok {
		return nil
	}
	count, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil || count < int64(least) {
		o.invalid.Add(name, "debe ser un entero desde "+strconv.Itoa(least))
		return nil
	}
	number := int(count)
	return &number
}

// Bool reads true or false; nil when it is absent.
func (o *Object) Bool(name string) *bool {
	value, ok := o.present(name)
	if !ok {
		return nil
	}
	if value.Kind() != 't' && value.Kind() != 'f' {
		o.invalid.Add(name, "debe ser true o false")
		return nil
	}
	truth := value.Kind() == 't'
	return &truth
}

// Time reads an ISO 8601 timestamp; nil when it is absent.
func (o *Object) Time(name string) *time.Time {
	text := o.Text(name, 64)
	if text == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		o.invalid.Add(name, "debe ser una fecha y hora ISO 8601, por ejemplo 2026-01-31T15:04:05Z")
		return nil
	}
	if !clock.InRange(at) {
		o.invalid.Add(name, clock.RangeMessage)
		return nil
	}
	return &at
}

// TextList reads an array of short texts; nil when it is absent.
func (o *Object) TextList(name string) []string {
	value, ok := o.present(name)
	if !ok {
		return nil
	}
	const notList = "debe ser una lista de textos"
	if value.Kind() != '[' {
		o.invalid.Add(name, notList)
		return nil
	}
	decoder := jsontext.NewDecoder(strings.NewReader(string(value)))
	list := []string{}
	if _, err := decoder.ReadToken(); err != nil {
		o.invalid.Add(name, notList)
		return nil
	}
	for decoder.PeekKind() != ']' {
		token, err := decoder.ReadToken()
		if err != nil || token.Kind() != '"' {
			o.invalid.Add(name, notList)
			return nil
		}
		list = append(list, token.String())
	}
	return list
}

// LineList reads an array of lines, each as Text reads it; blank ones are left out. It is nil when
// the member is absent.
func (o *Object) LineList(name string, maxCharacters int) []string {
	texts := o.TextList(name)
	if texts == nil {
		return nil
	}
	lines := []string{}
	for _, text := range texts {
		line, ok := o.trimmed(name, text, maxCharacters, false)
		if !ok {
			return nil
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
