package apptest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"despacho/internal/textnorm"
	"despacho/models"
)

// logCheck records what the services of the test run log, and the values that must not be logged:
// every credential and every personal value that a test sent or was given.
type logCheck struct {
	mu sync.Mutex
	// lines are everything that was logged, each line once, as its words between single spaces; words
	// are theirs.
	lines, words map[string]bool
	secrets      map[string]string
}

func newLogCheck() *logCheck {
	return &logCheck{lines: map[string]bool{}, words: map[string]bool{}, secrets: map[string]string{}}
}

var logs = newLogCheck()

// confidential are the members of requests and responses that must not be logged: credentials, and
// what is known of a person.
var confidential = []string{
	"key", "secret", "token", "password", "current", "new", "pin",
	"recipient_name", "recipient_phone", "recipient_doc_number", "delivery_address", "delivery_reference", "delivery_maps_url",
	"notes",
	"email", "name", "phone", "reason", "note", "photo_url", "signature", "q",
}

const (
	// shortestSecret excludes short values, which may be logged for another reason.
	shortestSecret = 8
	// longestSecret bounds the words of a value that are looked for: whoever logs more logs these.
	longestSecret = 12
)

// Write reads log lines; with DESPACHO_TEST_LOG=1 they are shown as well.
func (c *logCheck) Write(line []byte) (int, error) {
	if os.Getenv("DESPACHO_TEST_LOG") != "" {
		return os.Stderr.Write(line)
	}
	warnings.add(line)
	words := wordsOf(withoutTimes(string(line)))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, word := range words {
		c.words[word] = true
	}
	c.lines[" "+strings.Join(words, " ")+" "] = true
	return len(line), nil
}

// withoutTimes removes the time of a line and the duration of a statement, so that equal lines are
// remembered once.
func withoutTimes(line string) string {
	if _, rest, found := strings.Cut(line, " level="); found {
		line = rest
	}
	before, duration, found := strings.Cut(line, "trace.duration=")
	if _, after, ended := strings.Cut(duration, " "); found && ended {
		return before + after
	}
	return line
}

// wordsOf takes a text apart into what can be told from its neighbours in a log line.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// addSecret adds a value that must not be logged.
func (c *logCheck) addSecret(kind, value string) {
	compact := strings.NewReplacer(" ", "", "+", "").Replace(value)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, form := range []string{value, compact, textnorm.String(value)} {
		words := wordsOf(form)
		c.add(kind, words[:min(len(words), longestSecret)])
	}
	if kind == "secret" || kind == "key" || kind == "token" {
		for _, word := range wordsOf(value) { // a part gives it away
			c.add(kind, []string{word})
			if _, bare, prefixed := strings.Cut(word, "_"); prefixed {
				c.add(kind, []string{bare[strings.LastIndexByte(bare, '_')+1:]})
			}
		}
	}
}

func (c *logCheck) add(kind string, words []string) {
	if phrase := strings.Join(words, " "); len(phrase) >= shortestSecret {
		c.secrets[phrase] = kind
	}
}

// addSecrets adds the confidential members of a JSON value.
func (c *logCheck) addSecrets(content []byte) {
	var value any
	if json.Unmarshal(content, &value) == nil {
		c.search("", value)
	}
}

func (c *logCheck) search(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for member, inner := range value {
			c.search(member, inner)
		}
	case []any:
		for _, inner := range value {
			c.search(name, inner)
		}
	case string:
		if slices.Contains(confidential, name) && (!strings.HasSuffix(name, "phone") || isPhone(value)) {
			c.addSecret(name, value)
		}
	}
}

// addForm adds the confidential members of a form or a query.
func (c *logCheck) addForm(values map[string][]string) {
	for name, list := range values {
		for _, value := range list {
			c.search(name, value)
		}
	}
}

// addRow adds the confidential members of a row, which Go names in another case.
func (c *logCheck) addRow(row any) {
	switch row := row.(type) {
	case *models.User:
		c.addForm(map[string][]string{"email": {row.Email}, "name": {row.Name}})
	case *[]models.Rider:
		for _, rider := range *row {
			c.addForm(map[string][]string{"phone": {rider.Phone}, "name": {rider.Name}})
		}
	}
}

// isPhone reports whether a value can be somebody's phone. What tests send in its place to be
// refused, such as a table's name or zeros, is in the logs for other reasons: slow statements, ids.
func isPhone(value string) bool {
	digits := strings.NewReplacer(" ", "", "+", "", "-", "", "(", "", ")", "").Replace(value)
	return digits != "" && strings.Trim(digits, "0123456789") == "" && strings.Trim(digits, digits[:1]) != ""
}

// leaked is an error that names what was found in the logs and should not have been. The value
// itself is not repeated.
func (c *logCheck) leaked() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	for secret, kind := range c.secrets {
		if c.logged(secret) {
			found = append(found, fmt.Sprintf("%s (%s…, %d bytes)", kind, string([]rune(secret)[:2]), len(secret)))
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("the logs of this run hold what must not be there: %s", strings.Join(found, ", "))
}

// logged reports whether the words of a value follow each other in a line.
func (c *logCheck) logged(phrase string) bool {
	for word := range strings.SplitSeq(phrase, " ") {
		if !c.words[word] {
			return false
		}
	}
	for line := range c.lines {
		if strings.Contains(line, " "+phrase+" ") {
			return true
		}
	}
	return false
}
