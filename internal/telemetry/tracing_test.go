package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"despacho/internal/telemetry"
	"despacho/test/closedport"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	// Whoever runs the tests may send traces of their own somewhere.
	for _, setting := range os.Environ() {
		if variable, _, _ := strings.Cut(setting, "="); strings.HasPrefix(variable, "OTEL_") {
			os.Unsetenv(variable)
		}
	}
	os.Exit(m.Run())
}

// tracedRouter answers with a span of the handler's own inside the request's.
func tracedRouter() *gin.Engine {
	router := gin.New()
	router.Use(telemetry.GinTracing())
	answer := func(c *gin.Context) {
		_, span := otel.Tracer("test").Start(c.Request.Context(), "tariff")
		defer span.End()
		c.Status(http.StatusOK)
	}
	router.GET("/v1/orders/:id", answer)
	router.GET("/healthz", answer)
	return router
}

func get(router http.Handler, path string, header http.Header) {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header = header
	router.ServeHTTP(httptest.NewRecorder(), request)
}

func TestTracing_requestAndStatementsAreOneTrace(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	require.True(t, telemetry.Enabled())
	get(tracedRouter(), "/v1/orders/42", http.Header{
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		"Baggage":     {"stranger=1"},
	})
	flush()

	request, child := collector.named(t, "GET /v1/orders/:id"), collector.named(t, "tariff")
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", traceID(request), "the caller's trace goes on")
	require.Equal(t, traceID(request), traceID(child))
	require.Equal(t, request.SpanId, child.ParentSpanId)
	require.Equal(t, "/v1/orders/:id", attributes(request.Attributes)["http.route"])
	require.Equal(t, "despacho", collector.resource["service.name"])
	require.Equal(t, "1.2.3", collector.resource["service.version"])
	require.False(t, telemetry.Enabled(), "off once it is shut down")
}

// A path can name a package or, where no route knows it, be any text of a stranger's: like the log,
// a span has the route.
func TestTracing_pathsAndStatesOfCallersAreLeftOut(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	for _, path := range []string{"/v1/orders/secret", "/secret"} {
		get(tracedRouter(), path, http.Header{
			"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
			"Tracestate":  {"vendor=secret"},
		})
	}
	flush()
	require.Equal(t, 3, collector.received())
	for _, span := range collector.spans {
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", traceID(span))
		require.NotContains(t, span.String(), "secret")
	}
}

func TestTracing_probesAreLeftOut(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	get(tracedRouter(), "/healthz", nil)
	flush()
	require.Equal(t, 1, collector.received())
	require.Empty(t, collector.named(t, "tariff").ParentSpanId)
}

func TestTracing_usualVariablesApply(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "despacho-lima")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging")
	for name, tc := range map[string]struct {
		variable string
		path     string
		arrives  string
	}{
		"a host":                  {"OTEL_EXPORTER_OTLP_ENDPOINT", "", "/v1/traces"},
		"a slash at the end":      {"OTEL_EXPORTER_OTLP_ENDPOINT", "/", "/v1/traces"},
		"a base path":             {"OTEL_EXPORTER_OTLP_ENDPOINT", "/otlp", "/otlp/v1/traces"},
		"an address for traces":   {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/ingest", "/ingest"},
		"the same without a path": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "", "/"},
	} {
		t.Run(name, func(t *testing.T) {
			collector := startCollector(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(tc.variable, collector.url+tc.path)
			flush := startTracing(t, os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
			get(tracedRouter(), "/v1/orders/42", nil)
			flush()
			require.Len(t, collector.requests, 1)
			require.Equal(t, tc.arrives, collector.requests[0].URL.Path)
			require.Equal(t, "Bearer t", collector.requests[0].Header.Get("Authorization"))
			require.Equal(t, "gzip", collector.requests[0].Header.Get("Content-Encoding"))
			require.Equal(t, "despacho-lima", collector.resource["service.name"])
			require.Equal(t, "staging", collector.resource["deployment.environment.name"])
		})
	}
}

func TestTracing_off(t *testing.T) {
	collector := startCollector(t)
	for name, tc := range map[string]struct {
		endpoint string
		disabled string
	}{
		"no endpoint":    {"", ""},
		"disabled by it": {collector.url, "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_SDK_DISABLED", tc.disabled)
			// Were the exporter to find the collector by itself, this is where it would.
			t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.url)
			flush := startTracing(t, tc.endpoint)
			require.False(t, telemetry.Enabled())

			get(tracedRouter(), "/v1/orders/42", nil)
			require.NoError(t, telemetry.TraceGORM(openDatabase(t)))
			interceptor, err := telemetry.TemporalInterceptor()
			require.NoError(t, err)
			require.NotNil(t, interceptor, "callers add it unconditionally")
			_, span := otel.Tracer("test").Start(t.Context(), "nothing")
			require.False(t, span.IsRecording())
			span.End()

			flush()
			require.Zero(t, collector.received())
		})
	}
}

func TestTracing_wrongVariableIsNamed(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, tc := range map[string]struct {
		endpoint        string
		variable, value string
		named           string
	}{
		"no scheme":      {endpoint: "localhost:4318", named: endpoint},
		"bare host":      {endpoint: "collector", named: endpoint},
		"no host":        {endpoint: "http://:4318", named: endpoint},
		"another scheme": {endpoint: "grpc://collector:4317", named: endpoint},
		"not an address": {endpoint: "http://user:s3cret%@collector", named: endpoint},
		"credentials":    {endpoint: "http://user:s3cret@collector:4318", named: endpoint},
		"resource":       {"http://127.0.0.1:1", "OTEL_RESOURCE_ATTRIBUTES", "novalue", "OTEL_RESOURCE_ATTRIBUTES"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.variable != "" {
				t.Setenv(tc.variable, tc.value)
			}
			_, err := telemetry.StartTracing(t.Context(), "despacho", "1.2.3", tc.endpoint, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, tc.named+" ")
			require.NotContains(t, err.Error(), "s3cret")
			require.NotContains(t, err.Error(), "\n")
			require.False(t, telemetry.Enabled())
		})
	}
}

func TestTracing_unreachableCollectorDoesNotAffectRequests(t *testing.T) {
	var log bytes.Buffer
	shutdown, err := telemetry.StartTracing(t.Context(), "despacho", "1.2.3", "http://"+closedport.Address(t), slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err, "nobody waits for the collector")

	answer := httptest.NewRecorder()
	tracedRouter().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/v1/orders/42", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	_, span := otel.Tracer("test").Start(context.Background(), "later", trace.WithNewRoot())
	span.End()

	require.NoError(t, shutdown(context.Background()))
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "connection refused")
}
