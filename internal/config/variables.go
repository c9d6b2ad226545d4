package config

import "reflect"

// Variable is one environment variable as the documentation lists it.
type Variable struct {
	Name, Default, Doc string
}

// Variables lists every variable in the order of Config's fields.
func Variables() []Variable {
	fields := reflect.TypeFor[Config]()
	var list []Variable
	for i := range fields.NumField() {
		tag := fields.Field(i).Tag
		if name := tag.Get("env"); name != "" {
			list = append(list, Variable{Name: name, Default: tag.Get("envDefault"), Doc: tag.Get("doc")})
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
