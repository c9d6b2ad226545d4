package identity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"despacho/internal/textnorm"
)

// maxNameLength is far longer than any name in the registry; a longer text is not a name.
const maxNameLength = 300

// result is the outcome of one request, with a reason when it is inconclusive.
type result struct {
	outcome      Outcome
	name, reason string
}

func unavailable(reason string) result { return result{outcome: Unavailable, reason: reason} }

// parse reads a provider's response. A response that is not understood is Unavailable: it says
// nothing about the DNI.
func (s providerSpec) parse(status int, body []byte, dni string) result {
	answered := fmt.Sprintf("it answered %d", status)
	var refusal Outcome
	switch {
	case status >= 200 && status < 300:
		return s.parseSuccess(body, dni)
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden,
		status == http.StatusTooManyRequests:
		return result{outcome: QuotaOrCredentials, reason: answered}
	case status == http.StatusBadRequest:
		refusal = s.badRequest
	case status == http.StatusNotFound:
		refusal = NotFound
	case status == http.StatusUnprocessableEntity:
		refusal = Invalid
	default:
		return unavailable(answered)
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return unavailable(answered + " with a page: is DNI_URL its address?")
	}
	answer, _ := decodeObject(body)
	return result{outcome: outcomeFromMessage(answer, refusal), reason: answered}
}

// parseSuccess reads the body of a 2xx response, which may still report a failure.
func (s providerSpec) parseSuccess(body []byte, dni string) result {
	answer, ok := decodeObject(body)
	if !ok {
		return unavailable("its answer is not a JSON object")
	}
	if success, said := answer[successMember]; said && !isTrue(success) {
		return result{outcome: outcomeFromMessage(answer, NotFound), reason: "it answered success: false"}
	}
	person, given := personIn(answer)
	name, known := s.nameIn(person)
	switch {
	case !matchesDNI(person[s.echoMember], dni):
		return unavailable("its answer is about another document")
	case utf8.RuneCountInString(name) > maxNameLength:
		return unavailable("its answer has no name that a person could have")
	case name != "":
		return result{outcome: Found, name: name}
	case known || !given:
		return result{outcome: outcomeFromMessage(answer, NotFound), reason: "its answer has an empty name"}
	default:
		return result{outcome: outcomeFromMessage(answer, Unavailable), reason: "its answer has no name in it"}
	}
}

func decodeObject(body []byte) (map[string]any, bool) {
	const byteOrderMark = "\ufeff"
	var object map[string]any
	err := json.Unmarshal(bytes.TrimPrefix(body, []byte(byteOrderMark)), &object)
	return object, err == nil && object != nil
}

func isTrue(value any) bool {
	switch value := value.(type) {
	case bool:
		return value
	case float64:
		return value == 1
	case string:
		return value == "1" || strings.EqualFold(value, "true")
	default:
		return false
	}
}

// personIn returns the object with the person's members; given is false where it is present and
// empty.
func personIn(answer map[string]any) (person map[string]any, given bool) {
	data, wrapped := answer[personMember]
	if !wrapped {
		return answer, true
	}
	switch data := data.(type) {
	case map[string]any:
		return data, len(data) > 0
	case []any:
		return nil, len(data) > 0
	default:
		return nil, data != nil
	}
}

// nameIn returns the person's name; known means that the response has a member for one.
func (s providerSpec) nameIn(person map[string]any) (name string, known bool) {
	whole, known := person[s.fullNameMember]
	if name := cleanText(whole); name != "" {
		return name, true
	}
	var parts []string
	for _, member := range s.namePartMembers {
		part, present := person[member]
		known = known || present
		if text := cleanText(part); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " "), known
}

// cleanText returns a text member without control characters and with single spaces, safe for any
// database column and page.
func cleanText(value any) string {
	text, _ := value.(string)
	printable := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(printable), " ")
}

// matchesDNI reports whether the number that a response repeats is the one requested. Masked
// numbers are accepted, and so are those that lost their leading zeros.
func matchesDNI(echo any, dni string) bool {
	var number string
	switch echo := echo.(type) {
	case string:
		number = strings.TrimSpace(echo)
	case float64:
		number = strconv.FormatFloat(echo, 'f', -1, 64)
	}
	if number == "" || !isDigits(number) {
		return true
	}
	return strings.TrimLeft(number, "0") == strings.TrimLeft(dni, "0")
}

// outcomeFromMessage derives the outcome from the provider's message, or returns fallback where no
// pattern matches.
func outcomeFromMessage(answer map[string]any, fallback Outcome) Outcome {
	var said strings.Builder
	for _, member := range messageMembers {
		collectText(&said, answer[member])
	}
	message := " " + textnorm.String(said.String()) + " "
	for _, wording := range messagePatterns {
		for _, words := range wording.words {
			if strings.Contains(message, words) {
				return wording.outcome
			}
		}
	}
	return fallback
}

// collectText appends every text in a value. Member names are included: validation errors are keyed
// by field.
func collectText(into *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		into.WriteString(value + " ")
	case []any:
		for _, element := range value {
			collectText(into, element)
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(value)) {
			into.WriteString(member + " ")
			collectText(into, value[member])
		}
	}
}
