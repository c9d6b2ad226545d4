package apperror

import "strings"

// Fields collects every invalid field of a request, so that the caller is told all of them at once.
type Fields struct {
	list []Field
}

// Add records an error about a field. Only the first one about each field is kept.
func (f *Fields) Add(field, message string) {
	if f.Has(field) {
		return
	}
	f.list = append(f.list, Field{Field: field, Message: message})
}

// AddAll records the errors of a part, whose fields get the name of the part before their own.
func (f *Fields) AddAll(part string, of Fields) {
	for _, field := range of.list {
		f.Add(part+"."+field.Field, field.Message)
	}
}

// Has reports whether the field has an error.
func (f *Fields) Has(field string) bool {
	for _, known := range f.list {
		if known.Field == field {
			return true
		}
	}
	return false
}

// Err returns nil when nothing was added, else one Invalid error with every field.
func (f *Fields) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	parts := make([]string, len(f.list))
	for i, field := range f.list {
		parts[i] = field.Field + ": " + field.Message
	}
	return &Error{
		Kind:    Invalid,
		Code:    "invalid_fields",
		Message: "Revise los datos enviados. " + strings.Join(parts, "; ") + ".",
		Fields:  f.list,
	}
}
