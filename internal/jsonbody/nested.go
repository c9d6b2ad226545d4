package jsonbody

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// EachObject calls read with every object of an array. What is wrong in one is said with its place,
// as in collections[0].amount. An absent array has none.
func (o *Object) EachObject(name string, most int, read func(item *Object)) {
	value, ok := o.present(name)
	if !ok {
		return
	}
	items, ok := elements(value)
	switch {
	case !ok:
		o.invalid.Add(name, "debe ser una lista de objetos")
		return
	case len(items) > most:
		o.invalid.Add(name, "admite hasta "+strconv.Itoa(most))
		return
	}
	for i, item := range items {
		o.nested(fmt.Sprintf("%s[%d]", name, i), item, read)
	}
}

// WithObject calls read with an object that is a member, unless it is absent.
func (o *Object) WithObject(name string, read func(member *Object)) {
	if value, ok := o.present(name); ok {
		o.nested(name, value, read)
	}
}

// Names are the names of the members, sorted.
func (o *Object) Names() []string {
	names := make([]string, 0, len(o.members))
	for name := range o.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// With is the object with one member more, which has the value as JSON. What is wrong with the
// object so far is wrong with the new one.
func (o *Object) With(name string, value any) *Object {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // callers give what has a form in JSON
	}
	members := maps.Clone(o.members)
	members[name] = encoded
	return &Object{raw: o.raw, members: members, invalid: o.invalid}
}

// Within is an object whose only member is this one: a form has the members of a part of what its
// use case reads.
func (o *Object) Within(name string) *Object {
	outer := &Object{raw: o.raw, members: map[string]jsontext.Value{}}
	outer.invalid.AddAll(name, o.invalid)
	return outer.With(name, o.members)
}

// NumberList reads an array of whole numbers, which a form sends as texts; nil when it is absent.
func (o *Object) NumberList(name string) []int {
	value, ok := o.present(name)
	if !ok {
		return nil
	}
	items, ok := elements(value)
	numbers := make([]int, 0, len(items))
	for _, item := range items {
		number, err := strconv.Atoi(strings.Trim(string(item), `"`))
		if ok = ok && err == nil; !ok {
			break
		}
		numbers = append(numbers, number)
	}
	if !ok {
		o.invalid.Add(name, "debe ser una lista de números enteros")
		return nil
	}
	return numbers
}

func (o *Object) nested(place string, value jsontext.Value, read func(*Object)) {
	if value.Kind() != '{' {
		o.invalid.Add(place, "debe ser un objeto")
		return
	}
	object := &Object{raw: value, members: map[string]jsontext.Value{}}
	if err := object.readMembers(); err != nil {
		o.invalid.Add(place, "no es JSON válido")
		return
	}
	read(object)
	o.invalid.AddAll(place, object.invalid)
}

// elements are the values of an array.
func elements(value jsontext.Value) (items []jsontext.Value, ok bool) {
	decoder := jsontext.NewDecoder(strings.NewReader(string(value)))
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '[' {
		return nil, false
	}
	for decoder.PeekKind() != ']' {
		item, err := decoder.ReadValue()
		if err != nil {
			return nil, false
		}
		items = append(items, item.Clone())
	}
	return items, true
}
