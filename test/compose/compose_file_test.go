package compose_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// root is the module's directory.
const root = "../.."

// composeFile is the part of docker-compose.yml that these tests hold against the rest of the
// project.
type composeFile struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Profiles        []string              `yaml:"profiles"`
	Image           string                `yaml:"image"`
	Build           any                   `yaml:"build"`
	ContainerName   string                `yaml:"container_name"`
	Command         []string              `yaml:"command"`
	Environment     map[string]*string    `yaml:"environment"`
	Ports           []string              `yaml:"ports"`
	Volumes         []string              `yaml:"volumes"`
	Restart         string                `yaml:"restart"`
	User            string                `yaml:"user"`
	StopGracePeriod string                `yaml:"stop_grace_period"`
	DependsOn       map[string]dependency `yaml:"depends_on"`
	Healthcheck     healthcheck           `yaml:"healthcheck"`
	Deploy          deployment            `yaml:"deploy"`
}

type dependency struct {
	Condition string `yaml:"condition"`
	// Required is nil where the dependency is: false means that it may be in no profile.
	Required *bool `yaml:"required"`
}

type deployment struct {
	Replicas  string `yaml:"replicas"`
	Resources struct {
		Limits struct {
			Memory string `yaml:"memory"`
		} `yaml:"limits"`
	} `yaml:"resources"`
}

type healthcheck struct {
	Test    []string `yaml:"test"`
	Disable bool     `yaml:"disable"`
}

// builtHere reports whether the service runs the image that is built from the Dockerfile.
func (s service) builtHere() bool { return strings.HasPrefix(s.Image, "despacho:") }

// oneShot reports whether the service ends when its work is done.
func (s service) oneShot() bool { return strings.HasPrefix(s.Restart, "on-failure") }

func readCompose(t *testing.T) composeFile {
	t.Helper()
	var file composeFile
	require.NoError(t, yaml.Unmarshal([]byte(readFile(t, "docker-compose.yml")), &file))
	require.NotEmpty(t, file.Services)
	return file
}

// builtHere are the services that run the binary.
func (f composeFile) builtHere(t *testing.T) map[string]service {
	t.Helper()
	found := map[string]service{}
	for name, s := range f.Services {
		if s.builtHere() {
			found[name] = s
		}
	}
	require.Len(t, found, 3, "migrate, api and worker")
	return found
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(content)
}

// innermost matches ${NAME}, ${NAME:-default}, ${NAME-default}, ${NAME:+other} and
// ${NAME:?complaint} without another one inside.
var innermost = regexp.MustCompile(`\$\{([A-Z_]+)(?:(:?[-+?])([^{}$]*))?\}`)

// interpolate fills in variables as compose does.
func interpolate(t *testing.T, text string, environment map[string]string) string {
	t.Helper()
	for {
		found := innermost.FindStringSubmatchIndex(text)
		if found == nil {
			return text
		}
		part := func(i int) string {
			if found[2*i] < 0 {
				return ""
			}
			return text[found[2*i]:found[2*i+1]]
		}
		name, operator, word := part(1), part(2), part(3)
		value, set := environment[name]
		if strings.HasPrefix(operator, ":") {
			set = value != ""
		}
		switch strings.TrimPrefix(operator, ":") {
		case "-":
			if !set {
				value = word
			}
		case "+":
			value = ""
			if set {
				value = word
			}
		case "?":
			require.True(t, set, "%s: %s", name, word)
		}
		text = text[:found[0]] + value + text[found[1]:]
	}
}

// interpolated are the names of the variables that a text takes.
func interpolated(text string) []string {
	var names []string
	for _, found := range regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

// exampleLine matches NAME=value and #NAME=value.
var exampleLine = regexp.MustCompile(`(?m)^#?([A-Z_]+)=(.*)$`)

// exampleVariables are the names in .env.example with the values shown there.
func exampleVariables(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, line := range exampleLine.FindAllStringSubmatch(readFile(t, ".env.example"), -1) {
		require.NotContains(t, found, line[1], "twice in .env.example")
		found[line[1]] = line[2]
	}
	return found
}

// exampleEnvironment is .env.example with its secrets filled in and every variable that shows a
// value set to it.
func exampleEnvironment(t *testing.T) map[string]string {
	t.Helper()
	environment := exampleVariables(t)
	maps.DeleteFunc(environment, func(_, value string) bool { return value == "" })
	environment["SECRET_KEY"] = strings.Repeat("0123456789abcdef", 4)
	environment["POSTGRES_PASSWORD"] = strings.Repeat("0123456789abcdef", 3)
	return environment
}
