package credentials

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed data/common.txt.gz
var packedCommon []byte

// commonPasswords is sorted. It is unpacked on first use: only who sets a password needs it.
var commonPasswords = sync.OnceValue(func() []string {
	unpacked, err := gzip.NewReader(bytes.NewReader(packedCommon))
	if err != nil {
		panic(err) // the file is embedded
	}
	list, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	return strings.Split(strings.TrimSuffix(string(list), "\n"), "\n")
})

func isCommon(folded string) bool {
	_, found := slices.BinarySearch(commonPasswords(), folded)
	return found
}

// maxAffix is how many digits and symbols around a word still make a trivial variation of it.
const maxAffix = 6

// leet are the usual replacements of letters, with both readings of 1.
var leet = []*strings.Replacer{
	strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i"),
	strings.NewReplacer("0", "o", "1", "l", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i"),
}

// IsGuessable reports whether a password is one of the commonest, or one of the user's own names
// (e-mail address, operator), with trivial variations: case, accents, digits and symbols around it,
// letters replaced by digits, and the same twice.
func IsGuessable(password string, names ...string) bool {
	own := map[string]bool{}
	for _, name := range names {
		for _, word := range wordsOfName(name) {
			own[word] = true
		}
	}
	known := func(word string) bool {
		half := word[:len(word)/2]
		return isCommon(word) || own[lettersAndDigits(word)] || half+half == word &&
			(isCommon(half) || own[lettersAndDigits(half)])
	}
	folded := fold(password)
	forms := []string{folded}
	before, word, after := splitAffixes(folded)
	if affixes := before + after; word != "" && (len(affixes) <= maxAffix || isCommon(affixes)) {
		forms = append(forms, word)
	}
	for _, form := range forms {
		if known(form) || known(leet[0].Replace(form)) || known(leet[1].Replace(form)) {
			return true
		}
	}
	return false
}

// fold returns a text in lower case without accents.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
}

// splitAffixes separates what is not a letter at both ends.
func splitAffixes(text string) (before, word, after string) {
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	trimmed := strings.TrimLeftFunc(text, notLetter)
	word = strings.TrimRightFunc(trimmed, notLetter)
	return text[:len(text)-len(trimmed)], word, trimmed[len(word):]
}

func lettersAndDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// minName is the shortest name that a password is compared with.
const minName = 4

// wordsOfName are a name as a whole, without spaces and symbols, and the two sides of an e-mail
// address.
func wordsOfName(name string) []string {
	folded := fold(name)
	words := []string{lettersAndDigits(folded)}
	if user, domain, isEmail := strings.Cut(folded, "@"); isEmail {
		host, _, _ := strings.Cut(domain, ".")
		words = append(words, lettersAndDigits(user), lettersAndDigits(domain), lettersAndDigits(host))
	}
	return slices.DeleteFunc(words, func(word string) bool { return len(word) < minName })
}
