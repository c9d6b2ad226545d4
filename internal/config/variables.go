package config

import "reflect"

// Variable is one environment variable as the documentation lists it.
type Variable struct {
	Name, Default, Doc string
	// isList is set if it has values separated by commas.
	isList bool
}

// Variables lists every variable in the order of Config's fields.
func Variables() []Variable {
	fields := reflect.TypeFor[Config]()
	var list []Variable
	for i := range fields.NumField() {
		field := fields.Field(i)
		if name := field.Tag.Get("env"); name != "" {
			list = append(list, Variable{name, field.Tag.Get("envDefault"), field.Tag.Get("doc"),
				field.Type.Kind() == reflect.Slice})
		}
	}
	return list
}

func variableOf(field string) string {
	if f, ok := reflect.TypeFor[Config]().FieldByName(field); ok {
		return f.Tag.Get("env")
	}
	return field
}
