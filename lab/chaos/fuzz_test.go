package chaos

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFuzzTargets_areFoundInTheSource(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for file, source := range map[string]string{
		"a/a_test.go":       "package a\n\nfunc FuzzParse(f *testing.F) {}\n\nfunc TestX(t *testing.T) {}\nfunc FuzzRead(f *testing.F) {}\n",
		"a/a.go":            "package a\n\nfunc FuzzNot() {}\n",
		".hidden/b_test.go": "package b\n\nfunc FuzzHidden(f *testing.F) {}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(source), 0o600))
	}
	targets, err := fuzzTargets(root)
	require.NoError(t, err)
	require.Equal(t, []fuzzTarget{{"a", "FuzzParse"}, {"a", "FuzzRead"}}, targets)
}
