package bench

import (
	"fmt"
	"os"
	"strings"
)

// The lines of docs/benchmarks.md around the results.
const (
	resultsBegin = "<!-- results: written by `lab bench --write` -->\n"
	resultsEnd   = "<!-- end of results -->\n"
)

// writeDocument replaces the results in a document and leaves the rest as it is.
func writeDocument(path, results string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fresh, err := replaceResults(string(content), results)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(fresh), 0o644)
}

func replaceResults(document, results string) (string, error) {
	before, rest, begins := strings.Cut(document, resultsBegin)
	_, after, ends := strings.Cut(rest, resultsEnd)
	if !begins || !ends {
		return "", fmt.Errorf("lacks the lines %q and %q, between which the results go", strings.TrimSpace(resultsBegin),
			strings.TrimSpace(resultsEnd))
	}
	return before + resultsBegin + "\n" + results + "\n" + resultsEnd + after, nil
}
