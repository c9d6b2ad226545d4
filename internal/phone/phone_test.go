package phone_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/phone"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"987654321":         "+51987654321",
		"987 654-321":       "+51987654321",
		"(01) 444-5555":     "+5114445555",
		"+51 987 654 321":   "+51987654321",
		"+56 9 6123 4567":   "+56961234567",
		"":                  "",
		"12":                "",
		"987-654-CASA":      "",
		"+999 123 456 789":  "",
		"987654321 ext. 12": "",
	} {
		got, ok := phone.Canonical(typed, "PE")
		require.Equal(t, want, got, typed)
		require.Equal(t, want != "", ok, typed)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	in, err := jsonbody.Parse([]byte(`{"good":" 987 654 321 ","bad":"hola","number":987654321}`))
	require.NoError(t, err)
	require.Equal(t, "+51987654321", phone.Read(in, "good", "PE"))
	for _, field := range []string{"bad", "absent", "number"} {
		require.Empty(t, phone.Read(in, field, "PE"))
	}
	var named []string
	for _, field := range apperror.From(in.Err()).Fields {
		named = append(named, field.Field)
	}
	require.Equal(t, []string{"bad", "absent", "number"}, named)
}
