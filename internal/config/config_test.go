package config_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

func TestLoad_defaults(t *testing.T) {
	cfg, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", cfg.HTTPAddr)
	require.Equal(t, "http://127.0.0.1:8080", cfg.BaseURL)
	require.Equal(t, "http://127.0.0.1:8080/files", cfg.FilesURL)
	require.Equal(t, 24*time.Hour, cfg.AutoCancelAfter)
	require.Empty(t, cfg.WebhookAllowNets, "no address is exempt from the guard unless somebody says so")
	require.Error(t, cfg.RequireDatabase())
	require.Error(t, cfg.RequireSecrets())
}

// A link to http://:8080 or to 0.0.0.0 leads nowhere.
func TestLoad_linksOfAnAddressWithoutAHost(t *testing.T) {
	for _, address := range []string{":8080", "0.0.0.0:8080", "[::]:8080"} {
		t.Setenv("HTTP_ADDR", address)
		cfg, err := config.Load()
		require.NoError(t, err)
		require.Equal(t, "http://127.0.0.1:8080", cfg.BaseURL, address)
		require.Equal(t, "http://127.0.0.1:8080/files", cfg.FilesURL, address)
		require.Equal(t, address, cfg.HTTPAddr)
	}
}

func TestLoad_anErrorNamesTheVariable(t *testing.T) {
	for variable, value := range map[string]string{
		"HTTP_ADDR":          "8080",
		"ADMIN_ADDR":         "nowhere",
		"BASE_URL":           "despacho.example",
		"AUTO_CANCEL_AFTER":  "a day",
		"IDEMPOTENCY_TTL":    "-1h",
		"PHOTO_URL_TTL":      "0s",
		"SECRET_KEY":         "short",
		"LOG_LEVEL":          "loud",
		"LOG_FORMAT":         "xml",
		"WEBHOOK_ALLOW_NETS": "127.0.0.1/99",
		"WEBHOOK_CA_FILE":    "/does/not/exist.pem",
		"TRUSTED_PROXIES":    "proxy.local",
		"DATABASE_MAX_CONNS": "0",
		"PANEL_USER_LIMIT":   "0",
		"DEV_TEMPORAL_PORT":  "70000",
		"TEMPORAL_UI_URL":    "temporal.example",
		"PHOTO_QUARANTINE":   "-1h",
		"WEBHOOKS_PAUSED":    "maybe",
		"PHOTOS":             "gs://fotos",
		"PHOTOS_FALLBACK":    "s3://fotos?bucket=fotos",
		"HISTORY_KEYS":       "a:short",
		"HISTORY_KEY_ID":     "a",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			_, err := config.Load()
			require.ErrorContains(t, err, variable)
		})
	}
}

// The panel works at the root of a host only; photos and the Temporal UI may be below a path.
func TestLoad_addressesWithAPath(t *testing.T) {
	t.Setenv("BASE_URL", "https://despacho.example/")
	t.Setenv("FILES_URL", "https://files.example/fotos/")
	t.Setenv("TEMPORAL_UI_URL", "https://temporal.example/ui")
	cfg, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, "https://despacho.example", cfg.BaseURL)
	require.Equal(t, "https://files.example/fotos", cfg.FilesURL)
}

// A key is as long as its characters, as where it is used: an old one that is too short is not
// reported as SECRET_KEY.
func TestLoad_aShortOldKeyIsNamed(t *testing.T) {
	t.Setenv("SECRET_KEY", strings.Repeat("k", 32))
	for _, key := range []string{"short", strings.Repeat("ñ", 31)} {
		t.Setenv("SECRET_KEY_OLD", key)
		_, err := config.Load()
		require.EqualError(t, err, "SECRET_KEY_OLD must have at least 32 characters in each key (a comma separates keys and is part of none)")
	}
	t.Setenv("SECRET_KEY_OLD", strings.Repeat("ñ", 32))
	_, err := config.Load()
	require.NoError(t, err)
}

// People write lists with a space after the comma, and files end with a line feed.
func TestLoad_spacesAreNoPartOfTheValues(t *testing.T) {
	for variable, value := range map[string]string{
		"DNI_PROVIDER": "decolecta, migo ", "DNI_URL": "https://a.example , https://b.example", "DNI_TOKEN": " a, b", "WEBHOOK_ALLOW_NETS": "10.0.0.0/8, 127.0.0.0/8",
		"TRUSTED_PROXIES": "10.0.0.1, 10.1.0.0/16\n", "SECRET_KEY": strings.Repeat("1", 32) + "\n", "SECRET_KEY_OLD": strings.Repeat("2", 32) + ", " + strings.Repeat("3", 32),
		"FILES_DIR": " /fotos\n", "TEMPORAL_NAMESPACE": " pedidos", "TEMPORAL_API_KEY": "secret\n", "HISTORY_KEYS": "a:" + strings.Repeat("a", 32) + ", b:" + strings.Repeat("b", 32),
	} {
		t.Setenv(variable, value)
	}
	cfg, err := config.Load()
	require.NoError(t, err)
	require.Equal(t, []string{"decolecta", "migo"}, cfg.DNIProvider)
	require.Equal(t, []string{"https://a.example", "https://b.example"}, cfg.DNIURL)
	require.Equal(t, []string{"a", "b"}, cfg.DNIToken)
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}, cfg.WebhookAllowNets)
	require.Equal(t, []string{"10.0.0.1", "10.1.0.0/16"}, cfg.TrustedProxies)
	require.Equal(t, []string{strings.Repeat("1", 32), strings.Repeat("2", 32), strings.Repeat("3", 32)}, append([]string{cfg.SecretKey}, cfg.SecretKeyOld...))
	require.Equal(t, "/fotos", cfg.FilesDir)
	options, err := config.TemporalOptions()
	require.NoError(t, err)
	require.Equal(t, "pedidos", options.Namespace)
	require.Equal(t, []string{"a:" + strings.Repeat("a", 32), "b:" + strings.Repeat("b", 32)}, cfg.HistoryKeys)
}

// A variable that nobody set is not blamed for one that is wrong.
func TestLoad_anErrorNamesOnlyTheVariable(t *testing.T) {
	for _, wrong := range []struct{ variable, value string }{
		{"HTTP_ADDR", "8080"}, {"HTTP_ADDR", "127.0.0.1:notaport"}, {"HTTP_ADDR", "127.0.0.1:99999"},
		{"BASE_URL", "https://despacho.example?x=1"}, {"BASE_URL", "https://despacho.example#x"}, {"BASE_URL", "ftp://despacho.example"},
		{"BASE_URL", "https://example.com/despacho"}, {"BASE_URL", "https://example.com/despacho/"},
		{"FILES_DIR", `"/var/lib/despacho/files"`}, {"PHOTOS", "'s3://fotos?region=sa-east-1'"}, {"PHOTOS_FALLBACK", `"/var/lib/despacho/files"`}, {"DEV_DIR", `""`},
		{"TEMPORAL_TASK_QUEUE", "despacho's"}, {"TEMPORAL_TASK_QUEUE", `despacho\a`}, {"TEMPORAL_TASK_QUEUE", "despacho.lima"}, {"TEMPORAL_TASK_QUEUE", "despacho:2"},
	} {
		t.Run(wrong.value, func(t *testing.T) {
			t.Setenv(wrong.variable, wrong.value)
			_, err := config.Load()
			require.ErrorContains(t, err, wrong.variable+" must be ")
			require.Equal(t, 1, strings.Count(err.Error(), "must be"), err)
		})
	}
}

func TestTemporalOptions_malformedAddressNamesTheVariable(t *testing.T) {
	for _, address := range []string{"localhost", "localhost:port", ":7233", "localhost:99999", "http://localhost:7233", "local host:7233"} {
		t.Setenv("TEMPORAL_ADDRESS", address)
		_, err := config.TemporalOptions()
		require.ErrorContains(t, err, "TEMPORAL_ADDRESS", address)
	}
}

// .env.example shows them without a value.
func TestTemporalOptions_anEmptyVariableIsNotSet(t *testing.T) {
	for _, variable := range []string{
		"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_TLS", "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH",
		"TEMPORAL_TLS_SERVER_CA_CERT_PATH", "TEMPORAL_TLS_SERVER_NAME",
	} {
		t.Setenv(variable, "")
	}
	options, err := config.TemporalOptions()
	require.NoError(t, err)
	require.Nil(t, options.ConnectionOptions.TLS)
	require.Equal(t, "localhost:7233", options.HostPort)

	t.Setenv("TEMPORAL_TLS_SERVER_NAME", "temporal.example")
	options, err = config.TemporalOptions()
	require.NoError(t, err)
	require.Equal(t, "temporal.example", options.ConnectionOptions.TLS.ServerName)
}

// A TEMPORAL_TLS that cannot be read does not send what should be encrypted in clear.
func TestTemporalOptions_unreadableSwitch(t *testing.T) {
	for _, variable := range []string{"TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "yes")
			_, err := config.TemporalOptions()
			require.ErrorContains(t, err, variable+" must be true or false")
			t.Setenv(variable, "True")
			options, err := config.TemporalOptions()
			require.NoError(t, err)
			require.NotNil(t, options.ConnectionOptions.TLS)
		})
	}
}
