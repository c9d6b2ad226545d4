package apptest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// journal takes in what every service of the test run logs, down to the details, and knows what
// must not be there: every key, secret, token, password, document and phone that a test sent or was
// given.
type journal struct {
	mu sync.Mutex
	// words are everything that was logged, each once.
	words   map[string]bool
	secrets map[string]string
}

var logs = &journal{words: map[string]bool{}, secrets: map[string]string{}}

// confidential are the members of requests and answers that nobody may find in a log.
var confidential = []string{"key", "secret", "token", "password", "current", "new", "recipient_phone", "phone", "recipient_doc_number"}

// shortestSecret keeps words that anybody might log for another reason out of the search.
const shortestSecret = 8

// Write reads log lines; with DESPACHO_TEST_LOG=1 they are shown as well.
func (j *journal) Write(line []byte) (int, error) {
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

// keepSecret says that a value must not be found in a log.
func (j *journal) keepSecret(kind, value string) {
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

// keepSecrets finds the confidential members of a JSON value.
func (j *journal) keepSecrets(content []byte) {
	var value any
	if json.Unmarshal(content, &value) == nil {
		j.search("", value)
	}
}

func (j *journal) search(name string, value any) {
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
		if slices.Contains(confidential, name) {
			j.keepSecret(name, value)
		}
	}
}

// leaked is an error that names what was found in the logs and should not have been. The value
// itself is not repeated.
func (j *journal) leaked() error {
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
