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
		"987654321":                   "+51987654321",
		"987 654-321":                 "+51987654321",
		"(01) 444-5555":               "+5114445555",
		"+51 987 654 321":             "+51987654321",
		"+56 9 6123 4567":             "+56961234567",
		"":                            "",
		"12":                          "",
		"987.654.321":                 "+51987654321",
		"987\u00a0654\u00a0321":       "+51987654321",
		"51987654321":                 "+51987654321",
		"0051 987654321":              "+51987654321",
		"+1 212 555 2368":             "+12125552368",
		"98765432l":                   "",
		"tel:+51987654321":            "",
		"+51 +51 987654321":           "",
		"９８７６５４３２１":                   "",
		"987654321;phone-context=+51": "",
		"987-654-CASA":                "",
		"+999 123 456 789":            "",
		"987654321 ext. 12":           "",
	} {
		got, ok := phone.Canonical(typed, "PE")
		require.Equal(t, want, got, typed)
		require.Equal(t, want != "", ok, typed)
	}
}

// A Mexican number is the same with and without what was dialled before it until 2019.
func TestCanonical_formerMexicanPrefixes(t *testing.T) {
	t.Parallel()
	const want = "+525512345678"
	for _, typed := range []string{"+52 55 1234 5678", "+52 1 55 1234 5678", "+5215512345678", "005215512345678", "+52 01 55 1234 5678", "+52 044 55 1234 5678"} {
		got, ok := phone.Canonical(typed, "PE")
		require.True(t, ok, typed)
		require.Equal(t, want, got, typed)
	}
	for _, typed := range []string{"55 1234 5678", "1 55 1234 5678", "01 55 1234 5678", "044 55 1234 5678", "045 55 1234 5678", "5215512345678"} {
		got, ok := phone.Canonical(typed, "MX")
		require.True(t, ok, typed)
		require.Equal(t, want, got, typed)
	}
	for _, typed := range []string{"+52 1 55 1234 567", "+52 2 55 1234 5678", "+52 1 1 55 1234 5678", "+52 1 00 1234 5678"} {
		_, ok := phone.Canonical(typed, "MX")
		require.False(t, ok, typed)
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

func TestReadable(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"+51987654321": "987 654 321", "+525512345678": "+52 55 1234 5678", "+34612345678": "+34 612 34 56 78", "Eliminado 14": "Eliminado 14", "": "",
	} {
		require.Equal(t, want, phone.Readable(number, "PE"), number)
	}
}
