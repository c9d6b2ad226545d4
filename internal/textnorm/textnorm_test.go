package textnorm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestString(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"empty":                    {"", ""},
		"already folded":           {"santiago de surco", "santiago de surco"},
		"case":                     {"Santiago de SURCO", "santiago de surco"},
		"accents":                  {"Áhuac Mariano Dámaso Beraún", "ahuac mariano damaso beraun"},
		"ñ is n":                   {"Breña ÑUÑOA", "brena nunoa"},
		"diaeresis":                {"Güeppí", "gueppi"},
		"accent as its own rune":   {"Bren\u0303a", "brena"},
		"runs of white space":      {"  San\t\tJuan \n de\u00a0Lurigancho ", "san juan de lurigancho"},
		"punctuation":              {"Av. Larco, N.º 345 (2do piso) - «B»", "av larco n º 345 2do piso b"},
		"symbols part words":       {"A+B=C", "a b c"},
		"only punctuation":         {" -.,¿?! ", ""},
		"one space before the end": {"lima ", "lima"},
		"two spaces inside":        {"la  molina", "la molina"},
		"invisible joiners vanish": {"Mira\u00adflo\u200bres", "miraflores"},
		"invalid UTF-8":            {"li\xffma", "li ma"},
		"accent after a bad byte":  {"\xf3ñ", "n"},
		"other alphabets are kept": {"Ωμέγα 東京", "ωμεγα 東京"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, String(tc.in))
		})
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ano-nuevo", Slug("Año Nuevo"))
	require.Equal(t, "chacarilla-del-estanque", Slug(" Chacarilla  del Estanque. "))
	require.Empty(t, Slug("—"))
}

func TestNormalizedTextDoesNotAllocate(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { String("santiago de surco 2") }))
}

func FuzzString(f *testing.F) {
	for _, seed := range []string{"", "Breña", "  a  ", "İstanbul", "ẞ ǅ", "\xff\u0301", "한국어"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := String(s)
		require.Equal(t, folded, String(folded), "folding twice is folding once")
		require.NotContains(t, folded, "  ")
		require.False(t, folded != "" && (folded[0] == ' ' || folded[len(folded)-1] == ' '))
	})
}
