package guidecode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
