package config

import (
	"reflect"
	"slices"
	"strings"
)

// trimLists removes the spaces around each value of the variables that are lists, so that "a, b"
// has two values without a space. SECRET_KEY_OLD is left to withTrimmed.
func trimLists(environment map[string]string) map[string]string {
	fields := reflect.TypeFor[Config]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		name := field.Tag.Get("env")
		value, isSet := environment[name]
		if !isSet || field.Type.Kind() != reflect.Slice || name == "SECRET_KEY_OLD" {
			continue
		}
		values := strings.Split(value, ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		environment[name] = strings.Join(values, ",")
	}
	return environment
}

// withTrimmed adds each key without the spaces around it. The key as it stands is kept: a
// SECRET_KEY is used with the line feed that it ends with, as one from a file may, and is the same
// key only with it.
func withTrimmed(keys []string) []string {
	var all []string
	for _, key := range keys {
		if trimmed := strings.TrimSpace(key); trimmed != key && trimmed != "" {
			all = append(all, trimmed)
		}
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}
