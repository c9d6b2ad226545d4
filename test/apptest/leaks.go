package apptest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// logCheck records what the services of the test run log, and the values that must not be logged:
// every key, secret, token, password, document and phone that a test sent or was given.
type logCheck struct {
	mu sync.Mutex
	// words are everything that was logged, each once.
	words   map[string]bool
	secrets map[string]string
}

var logs = &logCheck{words: map[string]bool{}, secrets: map[string]string{}}

// confidential are the members of requests and responses that must not be logged.
var confidential = []string{"key", "secret", "token", "password", "current", "new", "recipient_phone", "phone", "recipient_doc_number"}

// shortestSecret excludes short words, which may be logged for another reason.
const shortestSecret = 8

// Write reads log lines; with DESPACHO_TEST_LOG=1 they are shown as well.
func (j *logCheck) Write(line []byte) (int, error) {
	if os.Getenv("DESPACHO_TEST_LOG") != "" {
		return os.Stderr.Write(line)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, word := range wordsOf(string(line)) {
		j.words[word] = true
	}
	return len(line), nil
}

// wordsOf takes a text apart into what can be told from its neighbours in a log line.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	return slices.DeleteFunc(words, func(word string) bool { return len(word) < shortestSecret })
}

// addSecret adds a value that must not be logged.
func (j *logCheck) addSecret(kind, value string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	compact := strings.NewReplacer(" ", "", "+", "").Replace(value)
	for _, word := range append(wordsOf(value), wordsOf(compact)...) {
		j.secrets[word] = kind
		if _, bare, prefixed := strings.Cut(word, "_"); prefixed && len(bare) >= shortestSecret {
			j.secrets[bare[strings.LastIndexByte(bare, '_')+1:]] = kind
		}
	}
}

// addSecrets adds the confidential members of a JSON value.
func (j *logCheck) addSecrets(content []byte) {
	var value any
	if json.Unmarshal(content, &value) == nil {
		j.search("", value)
	}
}

func (j *logCheck) search(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for member, inner := range value {
			j.search(member, inner)
		}
	case []any:
		for _, inner := range value {
			j.search(name, inner)
		}
	case string:
		if slices.Contains(confidential, name) && (!strings.HasSuffix(name, "phone") || isPhone(value)) {
			j.addSecret(name, value)
		}
	}
}

// isPhone reports whether a value can be somebody's phone. What tests send in its place to be refused,
// such as a table's name or zeros, is in the logs for other reasons: slow statements, ids.
func isPhone(value string) bool {
	digits := strings.NewReplacer(" ", "", "+", "", "-", "", "(", "", ")", "").Replace(value)
	return digits != "" && strings.Trim(digits, "0123456789") == "" && strings.Trim(digits, digits[:1]) != ""
}

// leaked is an error that names what was found in the logs and should not have been. The value
// itself is not repeated.
func (j *logCheck) leaked() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []string
	for secret, kind := range j.secrets {
		if j.words[secret] {
			found = append(found, fmt.Sprintf("%s (%s…, %d characters)", kind, secret[:2], len(secret)))
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("the logs of this run hold what must not be there: %s", strings.Join(found, ", "))
}
