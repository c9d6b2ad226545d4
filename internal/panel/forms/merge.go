package forms

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// SeenName is the name of the field in which a form sends its Seen.
const SeenName = "seen"

// Edit is the form of something that exists: the fields have its values. Its Seen tells those
// fields that the person has changed from those that were left alone, so that a form that was
// opened before somebody else's change undoes nothing of it.
func Edit(action, submit string, fields []Field) *Form {
	form := &Form{Action: action, Submit: submit, Fields: fields}
	seen := make([]string, len(fields))
	for i := range fields {
		seen[i] = fields[i].Name + ":" + fields[i].fingerprint()
	}
	form.Seen = strings.Join(seen, " ")
	return form
}

// fingerprint identifies the field's value. Browsers end the lines of a text area with CR LF.
func (f *Field) fingerprint() string {
	value, values := strings.TrimSpace(strings.ReplaceAll(f.Value, "\r\n", "\n")), []string(nil)
	switch f.Kind {
	case Flag:
		value = fmt.Sprint(f.On())
	case Checks:
		value, values = "", slices.Sorted(slices.Values(f.Values))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", value, values))
	return hex.EncodeToString(sum[:8])
}

// Changed reports whether the person has sent another value than the one that was there when the
// form was opened.
func (f *Field) Changed() bool { return !f.untouched }

// readSeen reads the fingerprints of what the person saw, by the fields' names.
func readSeen(sent []string) map[string]string {
	seen := map[string]string{}
	for pair := range strings.FieldsSeq(strings.Join(sent, " ")) {
		if name, fingerprint, ok := strings.Cut(pair, ":"); ok {
			seen[name] = fingerprint
		}
	}
	return seen
}

// Merge brings a form that was read up to what there is now, the same form with the current values:
// a field that the person left alone takes the current value. It is false if somebody else has
// changed a field to another value than the person, whose text stays in the field with an error
// that says what there is now. by is who changed a field and when, or empty; it may be nil.
func (f *Form) Merge(current *Form, by func(field string) string) bool {
	merged := true
	for i := range f.Fields {
		field := &f.Fields[i]
		at := slices.IndexFunc(current.Fields, func(now Field) bool { return now.Name == field.Name })
		if at < 0 {
			continue
		}
		now := current.Fields[at]
		switch fingerprint := now.fingerprint(); {
		case field.untouched:
			field.Value, field.Values = now.Value, now.Values
		case field.seen != "" && fingerprint != field.seen && fingerprint != field.fingerprint():
			merged = false
			field.Error = "Otra persona lo cambió: ahora dice " + now.shown() + "."
			if by != nil && by(field.Name) != "" {
				field.Error = by(field.Name) + " lo cambió: ahora dice " + now.shown() + "."
			}
		}
	}
	f.Seen = current.Seen
	return merged
}

// shown is the field's value in words.
func (f *Field) shown() string {
	label := func(value string) string {
		for _, option := range f.Options {
			if option.Value == value {
				return option.Label
			}
		}
		return value
	}
	switch {
	case f.Kind == Flag && f.On():
		return "marcado"
	case f.Kind == Flag:
		return "sin marcar"
	case f.Kind == Checks:
		labels := make([]string, len(f.Values))
		for i, value := range f.Values {
			labels[i] = label(value)
		}
		return "«" + strings.Join(labels, ", ") + "»"
	case f.Value == "" && f.Kind != Choice:
		return "nada"
	}
	return "«" + label(f.Value) + "»"
}
