package compose_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ofTheCopy are the variables of .env that a drill keeps: what is needed to read the backup, how
// the service behaves, and what has no effect without a setting that a drill empties.
var ofTheCopy = []string{
	"SECRET_KEY", "SECRET_KEY_OLD", "HISTORY_KEYS", "HISTORY_KEY_ID", "POSTGRES_PASSWORD", "POSTGRES_USER", "TEMPORAL_NAMESPACE", "TEMPORAL_TASK_QUEUE",
	"API_REPLICAS", "WORKER_REPLICAS", "POSTGRES_MEMORY", "TEMPORAL_MEMORY", "TEMPORAL_GOMEMLIMIT", "DATABASE_MAX_CONNS", "RELEASE", "GOPROXY",
	"AUTO_CANCEL_AFTER", "IDEMPOTENCY_TTL", "AUDIT_RETENTION", "PAYLOAD_RETENTION", "PERSONAL_DATA_RETENTION", "PHOTO_QUARANTINE", "PHOTO_URL_TTL",
	"MAX_CONNECTIONS_PER_ADDRESS", "PANEL_USER_LIMIT", "PANEL_OPERATOR_LIMIT", "DRAIN_DELAY", "SHUTDOWN_TIMEOUT", "STOP_GRACE_PERIOD", "LOG_LEVEL", "LOG_FORMAT",
	"TRUSTED_PROXIES", "WEBHOOK_ALLOW_NETS", "WEBHOOK_CA_FILE", // webhooks are paused
	"DNI_URL", "DNI_TOKEN", // of DNI_PROVIDER
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", // of PHOTOS
	"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", // of OTEL_EXPORTER_OTLP_ENDPOINT
	"PROMETHEUS_PORT", "GRAFANA_PORT", "PROMETHEUS_RETENTION", // of the profile monitoring
}

// drillVariables are what docs/operations.md appends to the .env of a drill.
func drillVariables(t *testing.T) map[string]string {
	t.Helper()
	command := regexp.MustCompile(`(?s)\nprintf '%s\\n' '' (.*?) >> drill\.env\n`).FindStringSubmatch(readFile(t, "docs/operations.md"))
	require.NotNil(t, command)
	set := map[string]string{}
	for _, word := range strings.Fields(strings.ReplaceAll(command[1], "\\\n", " ")) {
		name, value, isSetting := strings.Cut(word, "=")
		require.True(t, isSetting, word)
		set[name] = value
	}
	return set
}

// A drill beside the running service works on nothing that the service uses, whatever .env names.
func TestDrill_leavesTheServiceAlone(t *testing.T) {
	t.Parallel()
	file, set := readCompose(t), drillVariables(t)
	const elsewhere = "elsewhere"
	environment := map[string]string{}
	for name := range exampleVariables(t) {
		_, decided := set[name]
		require.NotEqual(t, decided, slices.Contains(ofTheCopy, name), "a drill sets %s or keeps it", name)
		environment[name] = "kept"
		if decided {
			environment[name] = elsewhere
		}
	}
	maps.Copy(environment, set)
	for name, s := range file.Services {
		if len(s.Profiles) > 0 && !slices.Contains(strings.Split(set["COMPOSE_PROFILES"], ","), s.Profiles[0]) {
			continue
		}
		for variable, value := range s.Environment {
			if value != nil {
				require.NotContains(t, interpolate(t, *value, environment), elsewhere, "%s of %s", variable, name)
			} else {
				require.NotEqual(t, elsewhere, environment[variable], "%s of %s", variable, name)
			}
		}
		for _, port := range s.Ports {
			published := interpolate(t, port, environment)
			require.True(t, strings.HasPrefix(published, "127.0.0.1:"), published)
			require.NotEqual(t, interpolate(t, port, map[string]string{}), published, "the service has that port")
		}
	}
	require.Equal(t, "postgres:5432", strings.TrimPrefix(regexp.MustCompile(`@[^/]+`).FindString(interpolate(t, *file.Services["api"].Environment["DATABASE_URL"], environment)), "@"))
	require.Equal(t, "temporal:7233", interpolate(t, *file.Services["worker"].Environment["TEMPORAL_ADDRESS"], environment))
	require.Equal(t, []string{"true", "", ""}, []string{environment["WEBHOOKS_PAUSED"], environment["DNI_PROVIDER"], environment["PHOTOS"]})
}
