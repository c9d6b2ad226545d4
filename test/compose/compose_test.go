// Package compose_test holds docker-compose.yml, Dockerfile and .env.example against the binary
// they run.
package compose_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/dev"
	"despacho/internal/config"
	"despacho/workflows"
)

func TestEnvironment_isKnownToTheBinary(t *testing.T) {
	t.Parallel()
	var known []string
	for _, v := range config.Variables() {
		known = append(known, v.Name)
	}
	for name, s := range readCompose(t).builtHere(t) {
		for variable := range s.Environment {
			if strings.HasPrefix(variable, "TEMPORAL_") || strings.HasPrefix(variable, "OTEL_") {
				continue
			}
			require.Contains(t, known, variable, "service %s sets a variable that nobody reads", name)
		}
	}
}

// Not parallel: it sets the environment of the process.
func TestEnvironment_passesTheBinarysOwnChecks(t *testing.T) {
	given := exampleEnvironment(t)
	for name, s := range readCompose(t).builtHere(t) {
		t.Run(name, func(t *testing.T) {
			for variable, value := range s.Environment {
				switch {
				case value != nil:
					t.Setenv(variable, interpolate(t, *value, given))
				case given[variable] != "":
					t.Setenv(variable, given[variable])
				}
			}
			cfg, err := config.Load()
			require.NoError(t, err)
			require.NoError(t, cfg.RequireDatabase())
			if s.oneShot() {
				return
			}
			require.NoError(t, cfg.RequireSecrets())
			options, err := config.TemporalOptions()
			require.NoError(t, err)
			require.Equal(t, "temporal:7233", options.HostPort)
			require.NotEmpty(t, cfg.AdminAddr, "metrics are there for a Prometheus on the same network")
			grace, err := time.ParseDuration(s.StopGracePeriod)
			require.NoError(t, err)
			require.Greater(t, grace, cfg.ShutdownTimeout, "Docker must not kill what is still draining")
		})
	}
}

func TestEnvironment_databaseIsTheOneThatIsStarted(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	postgres := file.Services["postgres"].Environment
	want := "postgres://" + *postgres["POSTGRES_USER"] + ":" + *postgres["POSTGRES_PASSWORD"] + "@postgres:5432/" + *postgres["POSTGRES_DB"] + "?sslmode=disable"
	for name, s := range file.builtHere(t) {
		require.Equal(t, want, *s.Environment["DATABASE_URL"], name)
	}
}

func TestEnvExample_namesEveryVariableThatComposeTakes(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, found := range variable.FindAllStringSubmatch(readFile(t, "docker-compose.yml"), -1) {
		taken[found[1]] = true
	}
	for _, s := range readCompose(t).Services {
		for name, value := range s.Environment {
			if value == nil {
				taken[name] = true // passed on as it is
			}
		}
	}
	example := exampleVariables(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(taken)), slices.Collect(maps.Keys(example)))
	for _, secret := range []string{"SECRET_KEY", "POSTGRES_PASSWORD"} {
		require.Empty(t, example[secret], "%s must be everybody's own", secret)
		require.Regexp(t, `(?m)^`+secret+`=$`, readFile(t, ".env.example"), "not commented out: it must be filled in")
	}
	require.Contains(t, strings.Fields(readFile(t, ".gitignore")), "/.env")
}

// A worker that replaces one of another release gets no tasks until its version is current.
func TestWorker_makesItsReleaseCurrent(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"worker", "--make-current"}, readCompose(t).Services["worker"].Command)
}

// pinned matches an image with a tag that says a version.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+[\w.-]*$`)

func TestImages_arePinned(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		if s.builtHere() {
			require.Equal(t, "despacho:dev", interpolate(t, s.Image, nil), name)
			continue
		}
		require.Regexp(t, pinned, s.Image, name)
	}
}

func TestServices_canBeScaled(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	for name, s := range file.Services {
		require.Empty(t, s.ContainerName, "%s: a name is for one container only", name)
	}
	require.Empty(t, file.Services["worker"].Ports)
	require.Len(t, file.Services["api"].Ports, 1)
	published := file.Services["api"].Ports[0]
	require.Equal(t, "127.0.0.1:8080-8080:8080", interpolate(t, published, nil))
	require.Equal(t, "0.0.0.0:80-84:8080", interpolate(t, published, map[string]string{"API_HOST": "0.0.0.0", "API_PORT": "80", "API_PORT_END": "84"}))
}

func TestServices_nothingWithoutAPasswordIsPublished(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		if name == "api" {
			continue
		}
		for _, port := range s.Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), "%s publishes %s beyond this machine", name, port)
		}
	}
}

func TestStartOrder_waitsForHealth(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	for name, s := range file.Services {
		if s.oneShot() {
			require.Empty(t, s.Healthcheck.Test, "%s ends, so nobody can ask how it is", name)
		} else {
			require.Equal(t, "unless-stopped", s.Restart, name)
			require.NotEmpty(t, s.Healthcheck.Test, name)
		}
		for on, dependency := range s.DependsOn {
			require.Contains(t, file.Services, on, name)
			want := "service_healthy"
			if file.Services[on].oneShot() {
				want = "service_completed_successfully"
			}
			require.Equal(t, want, dependency.Condition, "%s depends on %s", name, on)
		}
	}
	for name, first := range map[string][]string{
		"temporal-schema": {"postgres"}, "temporal": {"temporal-schema"}, "temporal-namespace": {"temporal"}, "temporal-ui": {"temporal"},
		"migrate": {"postgres"}, "api": {"postgres", "migrate"}, "worker": {"postgres", "migrate", "temporal-namespace"},
	} {
		require.ElementsMatch(t, first, slices.Collect(maps.Keys(file.Services[name].DependsOn)), name)
	}
}

func TestVolumes_areNamedAndDeclared(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	used := map[string]string{}
	for _, s := range file.Services {
		for _, mount := range s.Volumes {
			name, target, _ := strings.Cut(mount, ":")
			used[name] = target
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(file.Volumes)), slices.Collect(maps.Keys(used)))
	require.Equal(t, "/var/lib/postgresql/data", used["database"])
	require.Equal(t, *file.Services["api"].Environment["FILES_DIR"], used["files"], "photos are on the volume that every api shares")
}

func TestTemporal_getsTheSearchAttributesOfOrders(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	script := strings.Join(file.Services["temporal-namespace"].Command, "\n")
	created := map[string]string{}
	for _, found := range regexp.MustCompile(`--name (\w+) --type (\w+)`).FindAllStringSubmatch(script, -1) {
		created[found[1]] = found[2]
	}
	require.Equal(t, workflows.SearchAttributes(), created)
	for _, name := range []string{"api", "worker"} {
		require.Equal(t, file.Services["temporal-namespace"].Environment["TEMPORAL_NAMESPACE"], file.Services[name].Environment["TEMPORAL_NAMESPACE"])
	}
}

func TestTemporal_serverAndToolsAreTheVersionThatIsTested(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	version := strings.TrimPrefix(dev.TemporalServerVersion, "v")
	require.Equal(t, "temporalio/server:"+version, file.Services["temporal"].Image)
	for _, name := range []string{"temporal-schema", "temporal-namespace"} {
		require.Equal(t, "temporalio/admin-tools:"+version, file.Services[name].Image, name)
	}
}

// TestTemporal_hasWhatTheImageDoesNotBring: without the first of these the server ends at once,
// without the others it does as soon as its container joins a second network.
func TestTemporal_hasWhatTheImageDoesNotBring(t *testing.T) {
	t.Parallel()
	server := readCompose(t).Services["temporal"]
	for name, value := range map[string]string{
		"DYNAMIC_CONFIG_FILE_PATH": "/dev/null", "BIND_ON_IP": "0.0.0.0", "TEMPORAL_BROADCAST_ADDRESS": "127.0.0.1",
	} {
		require.NotNil(t, server.Environment[name], name)
		require.Equal(t, value, *server.Environment[name], name)
	}
}
