package despacho

import "encoding/json"

// Nullable is a field of a correction. Its zero value is left out, and the order keeps what it has;
// Value sends a value, and Null sends null, which removes what the order has.
type Nullable[T any] []*T

// Value is a field with a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value} }

// Null is a field without a value.
func Null[T any]() Nullable[T] { return Nullable[T]{nil} }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if len(n) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(n[0])
}

// UnmarshalJSON reads a value, or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	var value *T
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*n = Nullable[T]{value}
	return nil
}
