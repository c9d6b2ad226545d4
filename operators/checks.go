package operators

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of names and e-mail addresses, in characters.
const (
	maxName  = 200
	maxEmail = 254
)

func checkName(text string) (string, error) {
	name := strings.TrimSpace(text)
	switch {
	case name == "":
		return "", errors.New("the name is missing")
	case utf8.RuneCountInString(name) > maxName:
		return "", fmt.Errorf("the name has more than %d characters", maxName)
	case !utf8.ValidString(name):
		return "", errors.New("the name is not UTF-8 text")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("the name has control characters")
	}
	return name, nil
}

// checkEmail returns the normalized address, which sign-in looks up.
func checkEmail(text string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(text))
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || len(email) > maxEmail {
		return "", fmt.Errorf("%q is not an e-mail address", text)
	}
	return email, nil
}
