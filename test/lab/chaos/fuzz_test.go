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

func TestFuzzTimeOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		output string
		want   bool
	}{
		"the end of its time": {
			"fuzz: elapsed: 10s, execs: 209580 (18220/sec), new interesting: 0 (total: 54)\n--- FAIL: FuzzParse (10.06s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true,
		},
		"an input that fails": {
			"--- FAIL: FuzzParse (0.21s)\n    --- FAIL: FuzzParse (0.00s)\n        parse_test.go:40: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzParse/5d8c\nFAIL\nexit status 1\n", false,
		},
		"an input that fails as the time ends": {
			"--- FAIL: FuzzParse (10.02s)\n    context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzParse/5d8c\nFAIL\n", false,
		},
		"a process that hangs": {
			"--- FAIL: FuzzParse (11.43s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n    Failing input written to testdata/fuzz/FuzzParse/77a1\nFAIL\n", false,
		},
		"source that does not compile": {"parse_test.go:9:2: undefined: parse\nFAIL\tdespacho/internal/guidecode [build failed]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, fuzzTimeOver.MatchString(test.output))
		})
	}
}
