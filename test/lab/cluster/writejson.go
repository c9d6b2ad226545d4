package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// WriteJSON writes results to a file, whose directory is made if it is not there.
func WriteJSON(path string, results any) error {
	content, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}
