// Package jsonbody reads JSON request bodies strictly: one object, valid UTF-8, no duplicate
// members, no trailing data. Its typed readers collect every invalid field, so that a caller is
// told all of them at once.
package jsonbody

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"despacho/internal/apperror"
)

// maxDepth is deeper than any body the service accepts; deeper nesting is an attack on the parser.
const maxDepth = 32

// Object is a parsed JSON object whose members are read by name.
type Object struct {
	raw     jsontext.Value
	members map[string]jsontext.Value
	invalid apperror.Fields
}

// Parse reads one JSON object.
func Parse(raw []byte) (*Object, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, apperror.New(apperror.Invalid, "empty_body", "El cuerpo de la solicitud está vacío: envíe un objeto JSON.")
	}
	if problem := encodingProblem(raw); problem != "" {
		return nil, apperror.New(apperror.Invalid, "invalid_json", problem)
	}
	if tooDeep(raw) {
		return nil, apperror.New(apperror.Invalid, "invalid_json", "El JSON tiene demasiados niveles anidados.")
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	value, err := decoder.ReadValue()
	if err != nil {
		return nil, syntaxError(raw, err)
	}
	value = value.Clone()
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, apperror.New(apperror.Invalid, "trailing_data", "Hay datos después del objeto JSON.")
	}
	if value.Kind() != '{' {
		return nil, apperror.New(apperror.Invalid, "not_an_object",
			"El cuerpo debe ser un objeto JSON, por ejemplo {\"recipient_name\": \"…\"}.")
	}
	object := &Object{raw: value, members: map[string]jsontext.Value{}}
	return object, object.readMembers()
}

// ParseOptional is Parse for requests whose body is optional.
func ParseOptional(raw []byte) (*Object, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return Parse([]byte("{}"))
	}
	return Parse(raw)
}

func (o *Object) readMembers() error {
	decoder := jsontext.NewDecoder(bytes.NewReader(o.raw))
	if _, err := decoder.ReadToken(); err != nil {
		return syntaxError(o.raw, err)
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return syntaxError(o.raw, err)
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return syntaxError(o.raw, err)
		}
		o.members[key] = value.Clone()
	}
	return nil
}

// Err returns one error with all invalid fields read so far, or nil.
func (o *Object) Err() error { return o.invalid.Err() }

// AddError records an error of the caller's own about a field.
func (o *Object) AddError(field, message string) { o.invalid.Add(field, message) }

func syntaxError(raw jsontext.Value, err error) error {
	message := "El cuerpo no es JSON válido."
	code := "invalid_json"
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		code, message = "duplicate_member", "El JSON repite un miembro."
		if errors.As(err, &syntactic) {
			message = "El JSON repite el miembro " + syntactic.JSONPointer.LastToken() + "."
		}
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "El JSON está incompleto."
	case raw.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) && errors.As(err, &syntactic):
		message = unpairedSurrogateMessage(raw, syntactic)
	}
	return apperror.New(apperror.Invalid, code, message).Because(err)
}

// unpairedSurrogateMessage says where half of a character is escaped, as programs write it that cut
// a text in the middle of an emoji: a code such as \ud83d without the one that completes it. It is
// the only invalid UTF-8 that JSON in UTF-8 can have.
func unpairedSurrogateMessage(raw jsontext.Value, at *jsontext.SyntacticError) string {
	where := "Un nombre de miembro"
	if at.JSONPointer != "" {
		where = "El campo " + strings.Join(slices.Collect(at.JSONPointer.Tokens()), ".")
	}
	code := raw[at.ByteOffset:min(at.ByteOffset+int64(len(`\ud83d`)), int64(len(raw)))]
	return fmt.Sprintf("%s tiene la mitad de un carácter (%s), como al cortar un texto en medio de un emoji.", where, code)
}

// encodingProblem is what is wrong with the encoding of a body; empty if nothing is. The text may
// be right, so that its sender would look for a mistake that is not there.
func encodingProblem(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte("\ufeff")):
		return "El cuerpo empieza con una marca de orden de bytes (BOM): envíelo sin ella."
	case !utf8.Valid(raw):
		return "El cuerpo no está en UTF-8, que es la codificación de JSON."
	}
	return ""
}

// tooDeep reports whether values are nested deeper than maxDepth. What is no JSON is not.
func tooDeep(raw []byte) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := decoder.ReadToken(); err != nil {
			return false
		}
		if decoder.StackDepth() > maxDepth {
			return true
		}
	}
}
