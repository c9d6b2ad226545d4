package guidecode

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var printedForm = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{6}$`)

func TestNewCodesAreWellFormedAndDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var perPlace [codeLength]map[byte]bool
	for i := range perPlace {
		perPlace[i] = map[byte]bool{}
	}
	for range 5000 {
		code := New()
		require.Regexp(t, printedForm, code)
		parsed, ok := Parse(code)
		require.True(t, ok, code)
		require.Equal(t, code, parsed)
		require.False(t, seen[code], code)
		seen[code] = true
		for i, c := range []byte(strings.ReplaceAll(code, "-", "")) {
			perPlace[i][c] = true
		}
	}
	for place, letters := range perPlace {
		require.Len(t, letters, len(alphabet), "every letter occurs in place %d", place)
	}
}

// The check is linear: whether an error is caught depends only on its place and
// on the difference of the symbols, so all differences at all places prove it
// for every code. Several codes are tried all the same.
func TestEverySingleWrongCharacterIsCaught(t *testing.T) {
	t.Parallel()
	for range 200 {
		code := newSymbols(t)
		for place := range codeLength {
			for difference := byte(1); difference < 32; difference++ {
				wrong := code
				wrong[place] ^= difference
				_, ok := Parse(wrong.String())
				require.False(t, ok, "%s for %s", wrong, code)
			}
		}
	}
}

func TestEverySwapOfNeighboursIsCaught(t *testing.T) {
	t.Parallel()
	for place := range codeLength - 1 {
		for left := range byte(32) {
			for right := range byte(32) {
				code := codeWith(t, place, left, right)
				if code[place] == code[place+1] {
					continue
				}
				swapped := code
				swapped[place], swapped[place+1] = code[place+1], code[place]
				_, ok := Parse(swapped.String())
				require.False(t, ok, "%s for %s", swapped, code)
			}
		}
	}
}

func TestParseForgives(t *testing.T) {
	t.Parallel()
	code := symbols{1, 0, 29, 10, 31, 0, 1, 18, 5, 20}
	code[randomLength] = checkSymbol(code[:randomLength])
	printed := code.String()
	bare := strings.ReplaceAll(printed, "-", "")
	require.Equal(t, "10XAZ01J5M", bare[:randomLength])

	for name, typed := range map[string]string{
		"as printed":           printed,
		"lower case":           strings.ToLower(printed),
		"without hyphen":       bare,
		"hyphen elsewhere":     bare[:3] + "-" + bare[3:7] + "--" + bare[7:],
		"spaces":               " " + bare[:4] + " " + bare[4:] + "\r\n",
		"typographic dash":     bare[:5] + "–" + bare[5:],
		"scanner's apostrophe": bare[:5] + "'" + bare[5:],
		"O for 0":              strings.ReplaceAll(printed, "0", "O"),
		"o for 0":              strings.ReplaceAll(printed, "0", "o"),
		"I for 1":              strings.ReplaceAll(printed, "1", "I"),
		"l for 1":              strings.ReplaceAll(printed, "1", "l"),
	} {
		parsed, ok := Parse(typed)
		require.True(t, ok, name)
		require.Equal(t, printed, parsed, name)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	code := New()
	for name, typed := range map[string]string{
		"empty":                 "",
		"only separators":       "-----",
		"too short":             code[:len(code)-1],
		"too long":              code + "0",
		"U is not a letter":     "U" + code[1:],
		"other alphabet":        "Ñ" + code[1:],
		"full-width digit":      "１" + code[1:],
		"control character":     code + "\x00",
		"invalid UTF-8":         "\xff" + code[1:],
		"another kind of thing": "54c51d2b-049b-53b9-93ac-fa910f68ea0d",
	} {
		parsed, ok := Parse(typed)
		require.False(t, ok, name)
		require.Empty(t, parsed, name)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(New())
	f.Add("00000-000000")
	f.Add("ooooo'iiiiil")
	f.Add(" - ")
	f.Fuzz(func(t *testing.T, s string) {
		code, ok := Parse(s)
		if !ok {
			require.Empty(t, code)
			return
		}
		require.Regexp(t, printedForm, code)
		again, ok := Parse(code)
		require.True(t, ok)
		require.Equal(t, code, again)
	})
}

func newSymbols(t *testing.T) symbols {
	t.Helper()
	return symbolsOf(t, New())
}

// codeWith returns a right code with the given symbols at place and after it;
// where the second is the check character, the code decides it.
func codeWith(t *testing.T, place int, left, right byte) symbols {
	t.Helper()
	code := newSymbols(t)
	code[place] = left
	if place+1 < randomLength {
		code[place+1] = right
	} else {
		code[0] = right // varies the check character instead
	}
	code[randomLength] = checkSymbol(code[:randomLength])
	return code
}

func symbolsOf(t *testing.T, printed string) symbols {
	t.Helper()
	var code symbols
	for i, r := range strings.ReplaceAll(printed, "-", "") {
		symbol, known := symbolOf(r)
		require.True(t, known)
		code[i] = symbol
	}
	return code
}

func TestParsePart(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"10XAZ0":      {"10XAZ-0", "10XAZ0"},
		"loxazo1j":    {"10XAZ-01J", "10-XAZ01J"},
		"xaz 01j5m7":  {"XAZ01-J5M7", "XAZ-01J5M7"},
		"10XAZ":       nil,
		"10XAZ01J5M7": nil,
		"MURCIELA":    nil,
		"":            nil,
	} {
		require.Equal(t, want, ParsePart(typed), typed)
	}
}

func TestScan_acceptsScannerInput(t *testing.T) {
	t.Parallel()
	for range 50 {
		code := New()
		plain := strings.ReplaceAll(code, "-", "")
		for name, typed := range map[string]string{
			"as printed":                     code,
			"lower case":                     strings.ToLower(code),
			"without hyphen":                 plain,
			"with spaces":                    " " + code[:3] + " " + code[3:] + "\t",
			"Spanish layout":                 strings.Replace(code, "-", "'", 1),
			"Spanish layout, shifted":        strings.Replace(code, "-", "?", 1),
			"Brazilian layout":               strings.Replace(code, "-", ";", 1),
			"French layout":                  strings.Replace(code, "-", ")", 1),
			"symbology prefix":               "*" + code + "*",
			"QR":                             "https://despacho.example/track/" + code,
			"QR in capitals":                 "HTTPS://DESPACHO.EXAMPLE/TRACK/" + code,
			"QR on a host called track":      "https://track.despacho.example/track/" + code,
			"QR with what a browser appends": "https://despacho.example/track/" + code + "?utm_source=qr#mapa",
			"QR on a Spanish layout":         "httpsÑ--despacho.example-track-" + strings.Replace(code, "-", "'", 1),
			"QR of a development machine":    "http://127.0.0.1:8080/track/" + strings.ToLower(code) + "/",
		} {
			read, err := Scan(typed)
			require.NoError(t, err, "%s: %q", name, typed)
			require.Equal(t, code, read, name)
		}
	}
}

func TestScan_codeThatContainsThePath(t *testing.T) {
	t.Parallel()
	var code symbols
	for i, letter := range "TRACKTRACK" {
		symbol, known := symbolOf(letter)
		require.True(t, known)
		code[i] = symbol
	}
	code[randomLength] = checkSymbol(code[:randomLength])
	for _, typed := range []string{code.String(), "https://despacho.example/track/" + code.String()} {
		read, err := Scan(typed)
		require.NoError(t, err, typed)
		require.Equal(t, code.String(), read)
	}
}

func TestScan_tellsAMisreadCodeFromSomethingElse(t *testing.T) {
	t.Parallel()
	code := []byte(New())
	misread := byte('7')
	if code[2] == misread {
		misread = '8'
	}
	code[2] = misread
	for typed, want := range map[string]error{
		string(code): ErrCheck,
		"https://despacho.example/track/" + string(code): ErrCheck,
		"":                           ErrNotACode,
		"---":                        ErrNotACode,
		"7K3QD":                      ErrNotACode,
		"7751234567890":              ErrNotACode, // the product's own bar code
		"https://despacho.example/":  ErrNotACode,
		"https://otro.example/track": ErrNotACode,
	} {
		_, err := Scan(typed)
		require.ErrorIs(t, err, want, "%q", typed)
	}
}
