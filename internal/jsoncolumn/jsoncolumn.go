// Package jsoncolumn keeps a small value in a text column as JSON.
package jsoncolumn

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// Scan decodes a stored value; NULL leaves the zero value.
func Scan[T any](stored any, into *T) error {
	var zero T
	*into = zero
	switch text := stored.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(text), into)
	case []byte:
		return json.Unmarshal(text, into)
	}
	return fmt.Errorf("a column of JSON cannot hold a %T", stored)
}

// Value encodes a value; an empty one is NULL.
func Value[T any](value T, empty bool) (driver.Value, error) {
	if empty {
		return nil, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}
