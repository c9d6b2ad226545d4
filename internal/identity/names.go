package identity

import (
	"slices"
	"strings"
	"unicode/utf8"

	"despacho/internal/textnorm"
)

// particles are parts of names that do not distinguish people.
var particles = []string{"de", "del", "la", "las", "los", "y"}

// NamesMatch reports whether the name declared for a recipient may be that of the registered
// person. Case, accents, ñ/n, punctuation, the order of the words and particles (de, del, la, las,
// los, y) are ignored. Then
//
//   - every declared word must be in the registered name, as often as it was declared;
//   - at least two of them in full: people leave out middle names and second surnames, but one word
//     alone is not enough (unless the registered name has no other);
//   - an initial stands for a registered word that begins with it, in addition to the two in full.
func NamesMatch(declared, registered string) bool {
	left := nameWords(registered)
	needed := min(2, len(left))
	take := func(fits func(word string) bool) bool {
		i := slices.IndexFunc(left, fits)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	}
	var initials []string
	inFull := 0
	for _, word := range nameWords(declared) {
		if utf8.RuneCountInString(word) == 1 {
			initials = append(initials, word)
			continue
		}
		if !take(func(registered string) bool { return registered == word }) {
			return false
		}
		inFull++
	}
	for _, initial := range initials {
		if !take(func(registered string) bool { return strings.HasPrefix(registered, initial) }) {
			return false
		}
	}
	return inFull > 0 && inFull >= needed
}

func nameWords(name string) []string {
	return slices.DeleteFunc(strings.Fields(textnorm.String(name)),
		func(word string) bool { return slices.Contains(particles, word) })
}
