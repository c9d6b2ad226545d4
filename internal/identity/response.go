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

// maxNameLength is far over any name in the registry; more than that is no name.
const maxNameLength = 300

// verdict is what one exchange came to, and why where it settled nothing.
type verdict struct {
	outcome      Outcome
	name, reason string
}

func unavailable(reason string) verdict { return verdict{outcome: Unavailable, reason: reason} }

// judge reads a provider's answer. What is not understood says nothing about the DNI.
func (s providerSpec) judge(status int, body []byte, dni string) verdict {
	answered := fmt.Sprintf("it answered %d", status)
	var refusal Outcome
	switch {
	case status >= 200 && status < 300:
		return s.judgeAnswer(body, dni)
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden,
		status == http.StatusTooManyRequests:
		return verdict{outcome: QuotaOrCredentials, reason: answered}
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
	return verdict{outcome: outcomeByWords(answer, refusal), reason: answered}
}

// judgeAnswer reads the body of a success, which is one only if it says so.
func (s providerSpec) judgeAnswer(body []byte, dni string) verdict {
	answer, ok := decodeObject(body)
	if !ok {
		return unavailable("its answer is not a JSON object")
	}
	if success, said := answer[successMember]; said && !isTrue(success) {
		return verdict{outcome: outcomeByWords(answer, NotFound), reason: "it answered success: false"}
	}
	person, given := personIn(answer)
	name, known := s.nameIn(person)
	switch {
	case !isAbout(person[s.echoMember], dni):
		return unavailable("its answer is about another document")
	case utf8.RuneCountInString(name) > maxNameLength:
		return unavailable("its answer has no name that a person could have")
	case name != "":
		return verdict{outcome: Found, name: name}
	case known || !given:
		return verdict{outcome: outcomeByWords(answer, NotFound), reason: "its answer has an empty name"}
	default:
		return verdict{outcome: outcomeByWords(answer, Unavailable), reason: "its answer has no name in it"}
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

// personIn finds the members about the person; given is false where the answer keeps a place for
// them and it is empty.
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

// nameIn returns the person's name; known is whether the answer has a place for one.
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

// cleanText is a text member fit for any database column and page: no control characters, single
// spaces.
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

// isAbout tells whether an answer that repeats a document's number repeats the one asked for.
// Masked numbers are believed, and so are those that lost their leading zeros.
func isAbout(echo any, dni string) bool {
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

// outcomeByWords is what the provider's own words mean, or what is meant where there are none.
func outcomeByWords(answer map[string]any, wordless Outcome) Outcome {
	var said strings.Builder
	for _, member := range messageMembers {
		collectText(&said, answer[member])
	}
	message := " " + textnorm.String(said.String()) + " "
	for _, wording := range wordings {
		for _, words := range wording.words {
			if strings.Contains(message, words) {
				return wording.outcome
			}
		}
	}
	return wordless
}

// collectText gathers every text in a value, names of members included: validation errors hang from
// the field's.
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
