// Package compose_test holds docker-compose.yml, Dockerfile and .env.example against the binary
// they run.
package compose_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/dev"
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
			if strings.HasPrefix(variable, "TEMPORAL_") || strings.HasPrefix(variable, "OTEL_") || strings.HasPrefix(variable, "AWS_") || variable == "GOMEMLIMIT" {
				continue
			}
			require.Contains(t, known, variable, "service %s sets a variable that nobody reads", name)
		}
	}
}

// ofCompose are the variables whose value the containers decide.
var ofCompose = []string{"HTTP_ADDR", "ADMIN_ADDR", "FILES_DIR"}

// ofTheAPI are the variables that only an api reads.
var ofTheAPI = []string{
	"HTTP_ADDR", "FILES_DIR", "TEMPORAL_UI_URL", "TRUSTED_PROXIES", "MAX_CONNECTIONS_PER_ADDRESS",
	"PANEL_USER_LIMIT", "PANEL_OPERATOR_LIMIT", "DRAIN_DELAY",
}

// Every variable of the configuration reaches both processes, and .env decides its value.
func TestEnvironment_everyVariableCanBeSet(t *testing.T) {
	t.Parallel()
	file, example := readCompose(t), exampleVariables(t)
	for _, v := range config.Variables() {
		if strings.HasPrefix(v.Name, "DEV_") {
			continue
		}
		for _, name := range []string{"api", "worker"} {
			if name == "worker" && slices.Contains(ofTheAPI, v.Name) {
				continue
			}
			value, passed := file.Services[name].Environment[v.Name]
			require.True(t, passed, "service %s does not get %s", name, v.Name)
			if slices.Contains(ofCompose, v.Name) {
				continue
			}
			require.Contains(t, example, v.Name)
			if value != nil {
				require.Contains(t, interpolated(*value), v.Name, "service %s: .env does not decide %s", name, v.Name)
			}
		}
	}
}

// What .env leaves out is where the rest of it says.
func TestEnvironment_followsTheRest(t *testing.T) {
	t.Parallel()
	api := readCompose(t).Services["api"]
	secrets := map[string]string{"SECRET_KEY": "x", "POSTGRES_PASSWORD": "x"}
	with := func(name, given string) string {
		environment := maps.Clone(secrets)
		variable, value, set := strings.Cut(given, "=")
		if set {
			environment[variable] = value
		}
		return interpolate(t, *api.Environment[name], environment)
	}
	require.Equal(t, "http://127.0.0.1:8080", with("BASE_URL", ""))
	require.Equal(t, "http://127.0.0.1:9000", with("BASE_URL", "API_PORT=9000"))
	require.Equal(t, "https://despacho.example", with("BASE_URL", "BASE_URL=https://despacho.example"))
	require.Equal(t, "http://127.0.0.1:8233", with("TEMPORAL_UI_URL", ""))
	require.Equal(t, "http://127.0.0.1:9233", with("TEMPORAL_UI_URL", "UI_PORT=9233"))
	require.Empty(t, with("TEMPORAL_UI_URL", "TEMPORAL_UI_URL="), "the panel then has no link")
	require.Equal(t, "172.30.118.2", with("TRUSTED_PROXIES", ""))
	require.Equal(t, "10.9.8.2", with("TRUSTED_PROXIES", "NETWORK=10.9.8"))
	require.Equal(t, "172.30.118.2,172.30.118.1", with("TRUSTED_PROXIES", "TRUSTED_PROXIES=172.30.118.1"))
	require.Equal(t, "postgres://despacho:x@db.example:5432/despacho?sslmode=disable", with("DATABASE_URL", "POSTGRES_HOST=db.example"))
	require.Equal(t, "postgres://pooler/despacho", with("DATABASE_URL", "DATABASE_URL=postgres://pooler/despacho"))
}

// The migrations connect to the same PostgreSQL, whose certificate DATABASE_URL may name.
func TestCertificates_areMounted(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).builtHere(t) {
		require.Contains(t, s.Volumes, "./deploy/certs:/certs:ro", name)
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
			// An api drains for up to three times DRAIN_DELAY if requests still come.
			draining := cfg.ShutdownTimeout
			if name == "api" {
				draining += 3 * cfg.DrainDelay
			}
			for _, environment := range []map[string]string{{}, given} {
				grace, err := time.ParseDuration(interpolate(t, s.StopGracePeriod, environment))
				require.NoError(t, err)
				require.Greater(t, grace, draining, "Docker must not kill what is still draining")
			}
			require.Equal(t, "5m", interpolate(t, s.StopGracePeriod, map[string]string{"STOP_GRACE_PERIOD": "5m"}), "a longer SHUTDOWN_TIMEOUT has its time")
		})
	}
}

func TestEnvironment_databaseIsTheOneThatIsStarted(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	for _, given := range []map[string]string{
		{"POSTGRES_PASSWORD": "x"},
		{"POSTGRES_PASSWORD": "x", "POSTGRES_USER": "otro", "POSTGRES_HOST": "db.example", "POSTGRES_PORT": "6543"},
	} {
		value := func(service, variable string) string {
			return interpolate(t, *file.Services[service].Environment[variable], given)
		}
		host, port := value("temporal", "POSTGRES_SEEDS"), value("temporal", "DB_PORT")
		want := "postgres://" + value("postgres", "POSTGRES_USER") + ":" + value("postgres", "POSTGRES_PASSWORD") + "@" + host + ":" + port +
			"/" + value("postgres", "POSTGRES_DB") + "?sslmode=disable"
		for name := range file.builtHere(t) {
			require.Equal(t, want, value(name, "DATABASE_URL"), name)
		}
		for variable, same := range map[string]string{
			"SQL_HOST": host, "SQL_PORT": port, "SQL_USER": value("temporal", "POSTGRES_USER"), "SQL_PASSWORD": value("temporal", "POSTGRES_PWD"),
			"SQL_TLS": value("temporal", "SQL_TLS_ENABLED"),
		} {
			require.Equal(t, same, value("temporal-schema", variable), variable)
		}
		require.Equal(t, value("postgres", "POSTGRES_USER"), value("temporal", "POSTGRES_USER"))
		require.Equal(t, value("postgres", "POSTGRES_PASSWORD"), value("temporal", "POSTGRES_PWD"))
	}
	require.Equal(t, "postgres", interpolate(t, *file.Services["temporal"].Environment["POSTGRES_SEEDS"], nil), "the service's name")
}

// The defaults leave room for five of each, also while a roll-out runs the workers twice, or one
// more api.
func TestPostgres_hasRoomForTheConnections(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	connections := func(service string) int {
		count, err := strconv.Atoi(interpolate(t, *file.Services[service].Environment["DATABASE_MAX_CONNS"], nil))
		require.NoError(t, err)
		return count
	}
	const each, temporal, commands, reserved = 5, 4 * 30, 2 * 2, 3
	api, worker := connections("api"), connections("worker")
	room, err := strconv.Atoi(regexp.MustCompile(`max_connections=(\d+)`).FindStringSubmatch(strings.Join(file.Services["postgres"].Command, " "))[1])
	require.NoError(t, err)
	require.LessOrEqual(t, each*api+2*each*worker+temporal+commands+reserved, room)
	require.LessOrEqual(t, (each+1)*api+each*worker+temporal+commands+reserved, room)
}

func TestEnvExample_namesEveryVariableThatComposeTakes(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, name := range interpolated(readFile(t, "docker-compose.yml")) {
		taken[name] = true
	}
	taken["GOPROXY"] = true // an argument of the build, passed on as it is
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

// pinned matches an image with a tag that says a version.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+[\w.-]*$`)

func TestImages_arePinned(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		require.Equal(t, name == "migrate", s.Build != nil, "%s: one service builds the image that three have", name)
		if s.builtHere() {
			require.Equal(t, "despacho:dev", interpolate(t, s.Image, nil), name)
			continue
		}
		require.Regexp(t, pinned, s.Image, name)
	}
}

// A plain `docker compose up` keeps as many as .env says, behind one port.
func TestServices_canBeScaled(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	for name, s := range file.Services {
		require.Empty(t, s.ContainerName, "%s: a name is for one container only", name)
	}
	for name, variable := range map[string]string{"api": "API_REPLICAS", "worker": "WORKER_REPLICAS"} {
		require.Empty(t, file.Services[name].Ports, name)
		replicas := file.Services[name].Deploy.Replicas
		require.Equal(t, "1", interpolate(t, replicas, nil), name)
		require.Equal(t, "3", interpolate(t, replicas, map[string]string{variable: "3"}), name)
	}
	require.Len(t, file.Services["proxy"].Ports, 1)
	published := file.Services["proxy"].Ports[0]
	require.Equal(t, "127.0.0.1:8080:8080", interpolate(t, published, nil))
	require.Equal(t, "127.0.0.1:9000:8080", interpolate(t, published, map[string]string{"API_PORT": "9000"}))
	require.Equal(t, "0.0.0.0:80:8080", interpolate(t, published, map[string]string{"API_HOST": "0.0.0.0", "API_PORT": "80"}))
}

func TestServices_haveAMemoryLimit(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		if !s.oneShot() {
			require.Regexp(t, `^\d+[mg]$`, interpolate(t, s.Deploy.Resources.Limits.Memory, nil), name)
		}
	}
}

// Whoever has a PostgreSQL or a Temporal leaves its profile out; the rest does not wait for it
// then.
func TestProfiles(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	of := map[string][]string{
		"postgres": {"postgres"}, "temporal": {"temporal"}, "temporal-schema": {"temporal"}, "temporal-namespace": {"temporal"}, "temporal-ui": {"temporal"},
		"temporal-cli": {"cli"}, "prometheus": {"monitoring"}, "grafana": {"monitoring"},
	}
	for name, s := range file.Services {
		require.Equal(t, of[name], s.Profiles, name)
		for on, dependency := range s.DependsOn {
			optional := len(of[on]) > 0 && !slices.Equal(of[on], of[name])
			require.Equal(t, optional, dependency.Required != nil && !*dependency.Required, "%s depends on %s", name, on)
		}
	}
	require.Equal(t, "postgres,temporal", exampleVariables(t)["COMPOSE_PROFILES"])
	require.Regexp(t, `(?m)^COMPOSE_PROFILES=`, readFile(t, ".env.example"), "not commented out: without it neither runs")
	require.Contains(t, readFile(t, "docker-compose.yml"), "${COMPOSE_PROFILES:?", "whoever has an older .env is told")
}

func TestServices_nothingWithoutAPasswordIsPublished(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		if name == "proxy" {
			continue // to the api, which asks for a key
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
		"prometheus": nil, "grafana": {"prometheus"},
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
			if strings.HasPrefix(name, "./") {
				require.DirExists(t, filepath.Join(root, name))
				require.True(t, strings.HasSuffix(target, ":ro"), "%s is the project's", mount)
				continue
			}
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
	for _, name := range []string{"temporal-schema", "temporal-namespace", "temporal-cli"} {
		require.Equal(t, "temporalio/admin-tools:"+version, file.Services[name].Image, name)
	}
}

// TestTemporal_hasWhatTheImageDoesNotBring: without the first of these the server ends at once,
// without the others it does as soon as its container joins a second network.
func TestTemporal_hasWhatTheImageDoesNotBring(t *testing.T) {
	t.Parallel()
	server := readCompose(t).Services["temporal"]
	for name, value := range map[string]string{
		"DYNAMIC_CONFIG_FILE_PATH": "/etc/temporal/despacho/dynamicconfig.yaml", "BIND_ON_IP": "0.0.0.0", "TEMPORAL_BROADCAST_ADDRESS": "127.0.0.1",
	} {
		require.NotNil(t, server.Environment[name], name)
		require.Equal(t, value, *server.Environment[name], name)
	}
	require.Contains(t, server.Volumes, "./deploy/temporal:/etc/temporal/despacho:ro")
	require.FileExists(t, filepath.Join(root, "deploy/temporal/dynamicconfig.yaml"))
}
