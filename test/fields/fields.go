// Package fields fills structs and lists their fields, for tests that hold every field of a struct
// to something.
package fields

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Filler sets the fields of structs to non-zero values that, except for booleans, are distinct.
type Filler struct {
	// Given is how many values it gave so far.
	Given int
	// Bool is the value for booleans.
	Bool bool
}

// Fill sets every field of a struct, recursively.
func (f *Filler) Fill(row any) { f.fill(reflect.ValueOf(row).Elem(), "") }

func (f *Filler) fill(value reflect.Value, name string) {
	f.Given++
	switch value.Interface().(type) {
	case uuid.UUID:
		value.Set(reflect.ValueOf(uuid.New()))
		return
	case time.Time:
		value.Set(reflect.ValueOf(time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC).Add(time.Duration(f.Given) * time.Minute)))
		return
	case []byte:
		value.SetBytes(fmt.Appendf(nil, "%s %d", name, f.Given))
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem(), name)
	case reflect.Struct:
		for i := range value.NumField() {
			f.fill(value.Field(i), value.Type().Field(i).Name)
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		f.fill(value.Index(0), name)
	case reflect.String:
		value.SetString(fmt.Sprintf("%s %d", name, f.Given))
	case reflect.Bool:
		value.SetBool(f.Bool)
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(f.Given))
	case reflect.Float64:
		value.SetFloat(float64(f.Given) / 4)
	default:
		panic("no value for " + name + " of " + value.Type().String())
	}
}

// Of maps the fields of a struct, recursively, by name. Pointers are dereferenced, times are in
// UTC.
func Of(row any) map[string]any {
	fields := map[string]any{}
	var add func(path string, value reflect.Value)
	add = func(path string, value reflect.Value) {
		if value.Kind() == reflect.Pointer && !value.IsNil() {
			value = value.Elem()
		}
		if at, is := value.Interface().(time.Time); is {
			fields[path] = at.UTC()
			return
		}
		if value.Kind() != reflect.Struct {
			fields[path] = value.Interface()
			return
		}
		for i := range value.NumField() {
			add(strings.TrimPrefix(path+"."+value.Type().Field(i).Name, "."), value.Field(i))
		}
	}
	add("", reflect.ValueOf(row))
	return fields
}
