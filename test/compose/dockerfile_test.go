package compose_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/testenv"
)

// instructions returns the arguments of every instruction of that name in the Dockerfile, in order.
func instructions(t *testing.T, name string) []string {
	t.Helper()
	text := strings.ReplaceAll(readFile(t, "Dockerfile"), "\\\n", " ")
	var found []string
	for _, line := range regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllStringSubmatch(text, -1) {
		found = append(found, line[1])
	}
	return found
}

func last(t *testing.T, name string) string {
	t.Helper()
	found := instructions(t, name)
	require.NotEmpty(t, found, "the Dockerfile has no %s", name)
	return found[len(found)-1]
}

// execForm reads the words of a JSON array, skipping what comes before it.
func execForm(t *testing.T, text string) []string {
	t.Helper()
	var words []string
	require.NoError(t, json.Unmarshal([]byte(text[strings.Index(text, "["):]), &words), text)
	return words
}

func TestDockerfile_isStaticSmallAndUnprivileged(t *testing.T) {
	t.Parallel()
	stages := instructions(t, "FROM")
	require.Len(t, stages, 2)
	builder, _, _ := strings.Cut(stages[0], " ")
	require.Regexp(t, pinned, builder)
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "go.mod"))[1]
	require.True(t, strings.HasPrefix(builder, "golang:"+language+"."), "%s compiles what go.mod says is Go %s", builder, language)
	require.Equal(t, "scratch", stages[1])

	build := strings.Join(instructions(t, "RUN"), "\n")
	require.Contains(t, build, "CGO_ENABLED=0")
	require.Contains(t, build, "-trimpath")
	require.Contains(t, build, "-tags=nomsgpack", "as in the Makefile and in releases")
	require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, last(t, "USER"), "a number, so that the runtime can see that it is not root")
}

func TestDockerfile_agreesWithCompose(t *testing.T) {
	t.Parallel()
	api := readCompose(t).Services["api"]
	environment := last(t, "ENV")
	for _, name := range []string{"HTTP_ADDR", "FILES_DIR"} {
		require.Contains(t, strings.Fields(environment), name+"="+*api.Environment[name])
	}
	require.True(t, strings.HasSuffix(*api.Environment["HTTP_ADDR"], ":"+last(t, "EXPOSE")))

	owned := "--chown=" + last(t, "USER") + " "
	require.Condition(t, func() bool {
		for _, copied := range instructions(t, "COPY") {
			if strings.Contains(copied, owned) && strings.HasSuffix(copied, " "+*api.Environment["FILES_DIR"]) {
				return true
			}
		}
		return false
	}, "a new volume takes its owner from the image's directory")
	for name, s := range readCompose(t).builtHere(t) {
		require.Empty(t, s.User, "%s runs as the image's user", name)
	}
}

func TestDockerignore_keepsSecretsOutOfTheImage(t *testing.T) {
	t.Parallel()
	ignored := strings.Fields(readFile(t, ".dockerignore"))
	for _, name := range []string{".git", ".env", ".dev", "bin"} {
		require.Contains(t, ignored, name)
	}
}

// What docs/operations.md has people make in the clone holds secrets and personal data, or files
// that a build may not read.
func TestIgnored_isWhatOperationsMakes(t *testing.T) {
	t.Parallel()
	documented := readFile(t, "docs/operations.md")
	outOfImage, outOfGit := strings.Fields(readFile(t, ".dockerignore")), strings.Fields(readFile(t, ".gitignore"))
	for name, made := range map[string]string{
		"drill.env":                   "install -m 600 .env drill.env\n",
		"docker-compose.override.yml": "# docker-compose.override.yml, which compose reads",
		"backup/":                     "mkdir -p backup/",
		"archive/":                    "mkdir archive ",
	} {
		require.True(t, strings.Contains(documented, made), "docs/operations.md does not make %s", name)
		require.Contains(t, outOfImage, strings.TrimSuffix(name, "/"))
		require.Contains(t, outOfGit, "/"+name)
	}
	require.True(t, strings.Contains(readFile(t, "docs/operations.md"), "\ninstall -m 600 .env.example .env\n"), "nobody else of the machine reads the secrets")
}

func TestCommands_areTheBinarysOwn(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	entrypoint := execForm(t, last(t, "ENTRYPOINT"))
	require.Len(t, entrypoint, 1)
	commands := map[string][]string{
		"the image's command":      execForm(t, last(t, "CMD")),
		"the image's health check": inImage(t, entrypoint, execForm(t, last(t, "HEALTHCHECK"))),
	}
	for name, s := range readCompose(t).builtHere(t) {
		commands[name] = s.Command
		if test := s.Healthcheck.Test; len(test) > 0 {
			require.Equal(t, "CMD", test[0], "%s: there is no shell in the image", name)
			commands[name+"'s health check"] = inImage(t, entrypoint, test[1:])
		}
	}

	binary := filepath.Join(t.TempDir(), "despacho")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/despacho")
	build.Dir = root
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	for name, command := range commands {
		require.NotEmpty(t, command, name)
		output, err := exec.CommandContext(t.Context(), binary, append(command, "--help")...).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, output)
		// Cobra answers an unknown word with the help of the command above it.
		require.Regexp(t, `(?m)^  despacho `+strings.Join(words(command), " ")+`( |$)`, string(output), name)
	}
}

// inImage drops the path of the binary, which must be the one the image runs.
func inImage(t *testing.T, entrypoint, command []string) []string {
	t.Helper()
	require.Equal(t, entrypoint[0], command[0])
	return command[1:]
}

// words are the parts of a command line before its first flag.
func words(command []string) []string {
	for i, word := range command {
		if strings.HasPrefix(word, "-") {
			return command[:i]
		}
	}
	return command
}
