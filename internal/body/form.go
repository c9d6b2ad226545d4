package body

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// FromForm reads form fields as if they had come in a JSON object: what is written as a number is one, and a blank field is absent.
func FromForm(values map[string][]string) (*Object, error) {
	object := &Object{members: map[string]jsontext.Value{}}
	for name, list := range values {
		if len(list) == 0 || list[0] == "" {
			continue
		}
		if len(list) > 1 {
			object.wrong.Add(name, "llegó más de una vez")
			continue
		}
		number := jsontext.Value(list[0])
		if _, err := strconv.ParseFloat(list[0], 64); err == nil && number.IsValid() {
			object.members[name] = number
			continue
		}
		text, err := jsontext.AppendQuote(nil, list[0])
		if err != nil {
			object.wrong.Add(name, "contiene caracteres no válidos")
			continue
		}
		object.members[name] = text
	}
	return object, object.Err()
}
