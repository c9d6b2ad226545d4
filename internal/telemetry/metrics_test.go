package telemetry_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	_ "modernc.org/sqlite"

	"despacho/internal/telemetry"
)

// scrape reads /metrics twice: what goes wrong while one page is gathered is counted on the next.
func scrape(t *testing.T, metrics *telemetry.Metrics) string {
	t.Helper()
	var page string
	for range 2 {
		answer := httptest.NewRecorder()
		metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		require.Equal(t, http.StatusOK, answer.Code)
		page = answer.Body.String()
	}
	require.Contains(t, page, `promhttp_metric_handler_errors_total{cause="gathering"} 0`)
	return page
}

// watchedRouter has the service's shape: metrics outside the middleware that recovers from panics.
func watchedRouter(metrics *telemetry.Metrics) *gin.Engine {
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.Use(metrics.HTTP(), func(c *gin.Context) {
		defer func() {
			if recover() != nil {
				c.AbortWithStatus(http.StatusInternalServerError)
			}
		}()
		c.Next()
	})
	router.GET("/v1/orders/:id", func(c *gin.Context) {
		switch c.Param("id") {
		case "unknown":
			c.Status(http.StatusNotFound)
		case "broken":
			panic("broken")
		default:
			c.Status(http.StatusOK)
		}
	})
	return router
}

func TestMetrics_requestsByRouteAndStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method string
		paths  []string
		shown  string
	}{
		"ids share their route":        {"GET", []string{"/v1/orders/1", "/v1/orders/2"}, `{method="GET",route="/v1/orders/:id",status="200"} 2`},
		"statuses are apart":           {"GET", []string{"/v1/orders/unknown"}, `{method="GET",route="/v1/orders/:id",status="404"} 1`},
		"a panic is a 500":             {"GET", []string{"/v1/orders/broken"}, `{method="GET",route="/v1/orders/:id",status="500"} 1`},
		"unknown paths share a label":  {"GET", []string{"/a", "/b", "/c"}, `{method="GET",route="unmatched",status="404"} 3`},
		"a method that is not allowed": {"DELETE", []string{"/v1/orders/1"}, `{method="DELETE",route="unmatched",status="405"} 1`},
		"an invented method":           {"ZORDER", []string{"/a"}, `{method="other",route="unmatched",status="404"} 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metrics := telemetry.NewMetrics()
			router := watchedRouter(metrics)
			for _, path := range tc.paths {
				router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(tc.method, path, nil))
			}
			shown := scrape(t, metrics)
			require.Contains(t, shown, "http_requests_total"+tc.shown+"\n")
			require.Contains(t, shown, "http_request_duration_seconds_count"+tc.shown+"\n")
			require.Contains(t, shown, "http_requests_in_flight 0\n")
		})
	}
}

func TestMetrics_requestsInFlight(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	router := gin.New()
	router.GET("/", metrics.HTTP(), func(*gin.Context) {
		require.Contains(t, scrape(t, metrics), "http_requests_in_flight 1\n")
	})
	router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	require.Contains(t, scrape(t, metrics), "http_requests_in_flight 0\n")
}

func TestMetrics_unrecoveredPanicIsCounted(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	router := gin.New()
	router.GET("/", metrics.HTTP(), func(*gin.Context) { panic(http.ErrAbortHandler) })
	require.Panics(t, func() {
		router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	})
	shown := scrape(t, metrics)
	require.Contains(t, shown, `http_requests_total{method="GET",route="/",status="500"} 1`)
	require.Contains(t, shown, "http_requests_in_flight 0\n")
}

func openPool(t *testing.T, connections int) *sql.DB {
	t.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "pool.db"))
	require.NoError(t, err)
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(connections)
	return pool
}

func TestMetrics_databasePool(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	pool := openPool(t, 3)
	metrics.WatchDatabase(pool)
	conn, err := pool.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	shown := scrape(t, metrics)
	require.Contains(t, shown, `go_sql_max_open_connections{db_name="despacho"} 3`)
	require.Contains(t, shown, `go_sql_in_use_connections{db_name="despacho"} 1`)
}

func TestMetrics_temporalNamesAndUnits(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	handler := metrics.TemporalHandler().WithTags(map[string]string{"namespace": "default"})

	handler.Counter("temporal_request").Inc(2)
	handler.Gauge("temporal_worker_task_slots_available").Update(98)
	handler.Timer("temporal_request_latency").Record(30 * time.Millisecond)
	handler.Timer("temporal_workflow_endtoend_latency").Record(20 * time.Hour)

	shown := scrape(t, metrics)
	for _, line := range []string{
		"# TYPE temporal_request_total counter",
		`temporal_request_total{namespace="default"} 2`,
		"# TYPE temporal_worker_task_slots_available gauge",
		`temporal_worker_task_slots_available{namespace="default"} 98`,
		"# TYPE temporal_request_latency_seconds histogram",
		`temporal_request_latency_seconds_sum{namespace="default"} 0.03`,
		`temporal_request_latency_seconds_bucket{namespace="default",le="0.025"} 0`,
		`temporal_request_latency_seconds_bucket{namespace="default",le="0.05"} 1`,
		`temporal_workflow_endtoend_latency_seconds_bucket{namespace="default",le="21600"} 0`,
		`temporal_workflow_endtoend_latency_seconds_bucket{namespace="default",le="86400"} 1`,
	} {
		require.Contains(t, shown, line+"\n")
	}
}

func TestMetrics_temporalTagSetsOfOneNameMayDiffer(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	root := metrics.TemporalHandler()
	oneTag := root.WithTags(map[string]string{"operation": "StartWorkflowExecution"})
	twoTags := oneTag.WithTags(map[string]string{"status_code": "UNAVAILABLE"})
	retagged := twoTags.WithTags(map[string]string{"operation": "PollWorkflowTaskQueue"})

	for _, handler := range []client.MetricsHandler{root, oneTag, twoTags, retagged, root, oneTag, twoTags, retagged} {
		handler.Counter("temporal_request_failure").Inc(1)
		handler.Gauge("temporal_num_pollers").Update(5)
		handler.Timer("temporal_request_latency").Record(time.Second)
	}

	shown := scrape(t, metrics)
	for _, labels := range []string{
		"",
		`{operation="StartWorkflowExecution"}`,
		`{operation="StartWorkflowExecution",status_code="UNAVAILABLE"}`,
		`{operation="PollWorkflowTaskQueue",status_code="UNAVAILABLE"}`,
	} {
		require.Contains(t, shown, "temporal_request_failure_total"+labels+" 2\n")
		require.Contains(t, shown, "temporal_num_pollers"+labels+" 5\n")
		require.Contains(t, shown, "temporal_request_latency_seconds_count"+labels+" 2\n")
	}
}

func TestBacklog_isExported(t *testing.T) {
	t.Parallel()
	webhook, operator := uuid.New(), uuid.New()
	metrics := telemetry.NewMetrics()
	metrics.WatchBacklog(func(context.Context) (telemetry.Backlog, error) {
		return telemetry.Backlog{
			OrdersWithoutWorkflow: 3, OldestOrder: 90 * time.Second, DeliveriesPending: 7, Overdue: time.Minute,
			Pending: []telemetry.PendingWebhook{{ID: webhook, OperatorID: operator, Deliveries: 5}},
			Failing: []telemetry.FailingWebhook{{ID: webhook, OperatorID: operator, For: time.Hour}},
		}, nil
	})
	shown := scrape(t, metrics)
	labels := `{operator="` + operator.String() + `",webhook="` + webhook.String() + `"}`
	for _, line := range []string{
		"orders_without_workflow 3", "orders_without_workflow_oldest_seconds 90",
		"webhook_deliveries_pending 7", "webhook_deliveries_overdue_seconds 60",
		"webhook_pending" + labels + " 5", "webhook_failing_seconds" + labels + " 3600",
	} {
		require.Contains(t, shown, line+"\n")
	}
}

// A database that cannot be read costs only its own metrics.
func TestBacklog_notRead(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	metrics.WatchBacklog(func(context.Context) (telemetry.Backlog, error) {
		return telemetry.Backlog{}, errors.New("no database")
	})
	page := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.NotContains(t, page.Body.String(), "\norders_without_workflow")
	require.Contains(t, page.Body.String(), "go_goroutines ")
}

func TestDisks_freeAndSize(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	metrics.WatchDisks(map[string]string{"photos": t.TempDir()})
	shown := scrape(t, metrics)
	value := func(name string) float64 {
		found := regexp.MustCompile(`(?m)^` + name + `\{volume="photos"\} (\S+)$`).FindStringSubmatch(shown)
		require.NotNil(t, found, name)
		number, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		return number
	}
	require.Positive(t, value("disk_size_bytes"))
	require.LessOrEqual(t, value("disk_free_bytes"), value("disk_size_bytes"))
}

// A directory that is gone costs only its own metrics.
func TestDisks_missingDirectory(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics()
	metrics.WatchDisks(map[string]string{"photos": filepath.Join(t.TempDir(), "gone"), "database": t.TempDir()})
	answer := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	require.Contains(t, answer.Body.String(), `disk_free_bytes{volume="database"}`)
	require.NotContains(t, answer.Body.String(), `volume="photos"`)
}
