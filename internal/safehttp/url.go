package safehttp

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// MaxURLLength is the longest URL accepted, in characters.
const MaxURLLength = 2048

// URLReason is the stable code of why a URL was rejected.
type URLReason string

// The reasons of CheckURL.
const (
	URLTooLong        URLReason = "too_long"
	URLMalformed      URLReason = "malformed"
	URLScheme         URLReason = "scheme"
	URLUserInfo       URLReason = "user_info"
	URLFragment       URLReason = "fragment"
	URLHost           URLReason = "host"
	URLPort           URLReason = "port"
	URLRefusedAddress URLReason = "refused_address"
)

var urlMessages = map[URLReason]string{
	URLTooLong:        "La URL no puede tener más de " + strconv.Itoa(MaxURLLength) + " caracteres.",
	URLMalformed:      "La URL no es válida.",
	URLScheme:         "La URL debe empezar con https://.",
	URLUserInfo:       "La URL no puede llevar usuario ni contraseña.",
	URLFragment:       "La URL no puede llevar un fragmento (#).",
	URLHost:           "La URL debe llevar un nombre de servidor válido.",
	URLPort:           "El puerto de la URL no es válido.",
	URLRefusedAddress: "La URL apunta a una dirección que no es pública; use un servidor al que se llegue desde internet.",
}

// URLError is the error of CheckURL.
type URLError struct {
	Reason URLReason
}

// Error names the reason. It never contains the URL, which may contain a secret.
func (e *URLError) Error() string {
	return "safehttp: url refused: " + string(e.Reason)
}

// Message is the reason in Spanish, for users.
func (e *URLError) Message() string {
	return urlMessages[e.Reason]
}

// CheckURL checks a URL that a user chose: HTTPS, no user info, no fragment, and no literal address
// that Check rejects. Host names are checked when they are dialled. The query of the URL that it
// returns is escaped: a path is whenever it is written, and a query is written as it is.
func CheckURL(raw string, allow []netip.Prefix) (*url.URL, error) {
	if utf8.RuneCountInString(raw) > MaxURLLength {
		return nil, &URLError{Reason: URLTooLong}
	}
	target, err := url.Parse(raw)
	if err != nil || !utf8.ValidString(raw) {
		return nil, &URLError{Reason: URLMalformed}
	}
	for _, rule := range []struct {
		broken bool
		reason URLReason
	}{
		{target.Scheme != "https", URLScheme},
		{target.User != nil, URLUserInfo},
		{strings.Contains(raw, "#"), URLFragment},
		{target.Hostname() == "", URLHost},
		{!validPort(target), URLPort},
	} {
		if rule.broken {
			return nil, &URLError{Reason: rule.reason}
		}
	}
	if reason := checkHost(target.Hostname(), allow); reason != "" {
		return nil, &URLError{Reason: reason}
	}
	target.RawQuery = escapeQuery(target.RawQuery)
	return target, nil
}

// escapeQuery escapes what a query must not have, as browsers do: a space would end the address in
// the request line. What is escaped already stays.
func escapeQuery(query string) string {
	var escaped strings.Builder
	for _, c := range []byte(query) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>", c) >= 0 {
			fmt.Fprintf(&escaped, "%%%02X", c)
		} else {
			escaped.WriteByte(c)
		}
	}
	return escaped.String()
}

func validPort(target *url.URL) bool {
	if target.Port() == "" {
		return !strings.HasSuffix(target.Host, ":")
	}
	port, err := strconv.ParseUint(target.Port(), 10, 16)
	return err == nil && port > 0
}

// checkHost returns why a host is rejected, or an empty reason.
func checkHost(host string, allow []netip.Prefix) URLReason {
	if literal, err := netip.ParseAddr(host); err == nil {
		return checkAddress(literal, allow)
	}
	name, ok := lookupName(host)
	if !ok {
		return URLHost
	}
	// Fullwidth digits and ideographic full stops become a plain address only when mapped.
	if literal, err := netip.ParseAddr(name); err == nil {
		return checkAddress(literal, allow)
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return checkAddress(netip.AddrFrom4([4]byte{127, 0, 0, 1}), allow)
	}
	if endsInNumber(name) {
		return URLHost
	}
	return ""
}

func checkAddress(addr netip.Addr, allow []netip.Prefix) URLReason {
	if Check(addr, allow) != nil {
		return URLRefusedAddress
	}
	return ""
}

const (
	digits    = "0123456789"
	hexDigits = digits + "abcdef"
	// hostCharacters allows the underscore besides the characters of a strict name: hosts behind
	// wildcard certificates use it.
	hostCharacters = "abcdefghijklmnopqrstuvwxyz" + digits + "-_."
)

var hostNames = idna.New(
	idna.MapForLookup(), idna.StrictDomainName(false), idna.VerifyDNSLength(true), idna.BidiRule())

// lookupName is the host in lower case ASCII, as a resolver is asked for it.
func lookupName(host string) (string, bool) {
	name, err := hostNames.ToASCII(strings.TrimSuffix(host, "."))
	return name, err == nil && madeOf(name, hostCharacters)
}

// endsInNumber recognises what some resolvers read as IPv4: 127.1, 2130706433, 0x7f.1.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, found := strings.CutPrefix(last, "0x"); found {
		return madeOf(hex, hexDigits)
	}
	return madeOf(last, digits)
}

func madeOf(text, characters string) bool {
	return strings.Trim(text, characters) == ""
}
