package layout

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// maxComment is how long a line of a comment may be, in characters.
const maxComment = 100

func TestComments_areNotTooLong(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "bin" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, ".gen.go") {
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		for number := 1; lines.Scan(); number++ {
			if text := lines.Text(); strings.HasPrefix(strings.TrimSpace(text), "// ") && utf8.RuneCountInString(text) > maxComment {
				t.Errorf("%s:%d: the comment has more than %d characters", path, number, maxComment)
			}
		}
		return lines.Err()
	})
	require.NoError(t, err)
}
