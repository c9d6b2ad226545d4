package compose_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/internal/photos"
)

func haproxySetting(t *testing.T, pattern string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^ *` + pattern + `$`).FindStringSubmatch(readFile(t, "deploy/haproxy/haproxy.cfg"))
	require.NotNil(t, found, pattern)
	return found[1:]
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	duration, err := time.ParseDuration(text)
	require.NoError(t, err)
	return duration
}

// The proxy notices that an api stops while that api still takes requests.
func TestProxy_noticesADrainingAPI(t *testing.T) {
	t.Parallel()
	check := haproxySetting(t, `default-server check inter (\w+) fall (\d+) .*`)
	fall, err := strconv.Atoi(check[1])
	require.NoError(t, err)
	drain := seconds(t, interpolate(t, *readCompose(t).Services["api"].Environment["DRAIN_DELAY"], nil))
	require.Greater(t, drain, time.Duration(fall+1)*seconds(t, check[0]), "a check may have begun just before")
	require.Equal(t, []string{"/readyz"}, haproxySetting(t, `http-check send meth GET uri (\S+) .*`))
	require.Equal(t, []string{"api", "8080"}, haproxySetting(t, `server-template api \d+ (\w+):(\d+)`))
}

// The proxy gives up after the api does: the api's own answer is the better one.
func TestProxy_waitsLongerThanTheAPI(t *testing.T) {
	t.Parallel()
	timeouts := config.DefaultTimeouts()
	for _, side := range []string{"client", "server"} {
		require.Greater(t, seconds(t, haproxySetting(t, `timeout `+side+` (\w+)`)[0]), timeouts.Connection, side)
	}
	require.Greater(t, seconds(t, haproxySetting(t, `timeout check (\w+)`)[0]), timeouts.Readiness)
}

// What the documents say about another proxy fits the largest body of the api, and its patience.
func TestProxy_inFrontAsDocumented(t *testing.T) {
	t.Parallel()
	for document, patterns := range map[string][2]string{
		"docs/operations.md":               {`client_max_body_size (\d+)m;`, `proxy_read_timeout (\d+)s;`},
		"deploy/helm/despacho/values.yaml": {`proxy-body-size: (\d+)m\n`, `proxy-read-timeout: "(\d+)"\n`},
	} {
		number := func(pattern string) int {
			found := regexp.MustCompile(pattern).FindStringSubmatch(readFile(t, document))
			require.NotNil(t, found, "%s: %s", document, pattern)
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			return n
		}
		require.GreaterOrEqual(t, number(patterns[0])<<20, photos.MaxForm, document)
		require.Greater(t, time.Duration(number(patterns[1]))*time.Second, config.DefaultTimeouts().Connection, document)
	}
}
