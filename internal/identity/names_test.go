package identity

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/textnorm"
)

func TestNamesMatch(t *testing.T) {
	t.Parallel()
	const rosa = "DIAZ QUISPE ROSA MARIA"
	for name, c := range map[string]struct {
		declared, registered string
		want                 bool
	}{
		"the same":                               {rosa, rosa, true},
		"case and accents":                       {"Rosa María Díaz Quispe", rosa, true},
		"accents on the other side":              {"rosa maria diaz quispe", "DÍAZ QUISPE ROSA MARÍA", true},
		"ñ is n":                                 {"Jose Nuñez Pena", "NUNEZ PEÑA JOSE", true},
		"accents as runes of their own":          {"Jose\u0301 Nun\u0303ez", "NUÑEZ JOSÉ", true},
		"diaeresis":                              {"Sofía Agüero", "AGUERO ROJAS SOFIA", true},
		"any order":                              {"María Quispe Rosa Díaz", rosa, true},
		"a comma":                                {"Rosa Díaz", "DIAZ QUISPE, ROSA MARIA", true},
		"white space and dots":                   {"  Rosa\t Díaz. ", rosa, true},
		"a hyphen":                               {"Ana García-León", "GARCIA LEON ANA", true},
		"an apostrophe":                          {"Luis D’Angelo", "D'ANGELO ROJAS LUIS", true},
		"without middle name and second surname": {"Rosa Díaz", rosa, true},
		"without the first name":                 {"María Quispe", rosa, true},
		"another surname":                        {"Rosa Flores", rosa, false},
		"another first name":                     {"Juana Díaz Quispe", rosa, false},
		"one word too many":                      {"Rosa María Díaz Quispe Flores", rosa, false},
		"a married name is not registered":       {"Rosa Díaz de Flores", rosa, false},
		"a spelling mistake":                     {"Rosa Dias Quispe", rosa, false},
		"part of a word":                         {"Ros Dia", rosa, false},
		"a pet name":                             {"Rosita Díaz", rosa, false},
		"one word":                               {"Rosa", rosa, false},
		"one word twice":                         {"Rosa Rosa", rosa, false},
		"one word, all that is registered":       {"Sukarno", "SUKARNO", true},
		"one word, all but a particle":           {"Sukarno", "DE SUKARNO", true},
		"an initial, all that is registered":     {"S.", "SUKARNO", false},
		"one word, and another is registered":    {"Sukarno", "SUHARTO", false},
		"a word declared twice and borne twice":  {"Juan Pérez Pérez", "PEREZ PEREZ JUAN", true},
		"a word declared twice and borne once":   {"Juan Pérez Pérez", "PEREZ GOMEZ JUAN", false},
		"particles":                              {"María de la Cruz", "DE LA CRUZ HUAMAN MARIA", true},
		"particles left out":                     {"María Cruz", "DE LA CRUZ HUAMAN MARIA", true},
		"particles added":                        {"Rosa Díaz y Quispe", rosa, true},
		"particles do not make two words":        {"De la Cruz", "DE LA CRUZ HUAMAN MARIA", false},
		"particles alone":                        {"de la", "DE LA CRUZ HUAMAN MARIA", false},
		"an initial beside two words":            {"Rosa M. Díaz", rosa, true},
		"initials beside two words":              {"Rosa M. Díaz Q.", rosa, true},
		"an initial of no word":                  {"Rosa T. Díaz", rosa, false},
		"an initial of a word already told":      {"Rosa María Díaz M.", rosa, false},
		"an initial does not take a full word":   {"M. Rosa María Díaz", "DIAZ MENDOZA ROSA MARIA", true},
		"an initial is not a word":               {"R. Díaz", rosa, false},
		"two initials are not a word":            {"R. M. Díaz", rosa, false},
		"initials alone":                         {"R D", rosa, false},
		"nothing declared":                       {"", rosa, false},
		"nothing registered":                     {"Rosa Díaz", "", false},
		"nothing at all":                         {"", "", false},
		"punctuation alone":                      {"...", "---", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, NamesMatch(c.declared, c.registered))
		})
	}
}

func FuzzNamesMatch(f *testing.F) {
	f.Add("Rosa M. Díaz", "DIAZ QUISPE ROSA MARIA")
	f.Add("\xff ñ", "")
	f.Fuzz(func(t *testing.T, declared, registered string) {
		words := strings.Fields(textnorm.String(registered))
		slices.Reverse(words)
		require.Equal(t, NamesMatch(declared, registered), NamesMatch(declared, strings.Join(words, " ")), "the order does not matter")
	})
}
