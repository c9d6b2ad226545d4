package monitoring_test

import (
	"context"
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"despacho/internal/config"
	"despacho/internal/telemetry"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// exported has the labels of every metric by its name.
type exported map[string][]string

var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$`)

func scrapeText(t *testing.T, metrics *telemetry.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	return answer.Body.String()
}

func scrape(t *testing.T, metrics *telemetry.Metrics) exported {
	t.Helper()
	found := exported{}
	for line := range strings.Lines(scrapeText(t, metrics)) {
		match := sample.FindStringSubmatch(strings.TrimSpace(line))
		if match == nil {
			continue
		}
		found[match[1]] = append(found[match[1]], "job", "instance") // Prometheus adds these
		for _, label := range matcher.FindAllStringSubmatch(match[2], -1) {
			found[match[1]] = append(found[match[1]], label[1])
		}
	}
	return found
}

// busyService is a service in which everything happened once that has a metric: requests, moves,
// workflows, and a webhook that fails and is tried again.
func busyService(t *testing.T) exported {
	t.Helper()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{})
	tenant := s.NewTenant(t)
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	s.Register(t, tenant.Key, receiver, map[string]any{"retry": true})
	order := s.CreateOrder(t, tenant.Key)
	receiver.WaitFor(t, 1)
	cancelled := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + order + "/cancel", Key: tenant.Key, Body: map[string]any{}})
	require.Equal(t, http.StatusOK, cancelled.Status, cancelled.Text)
	poll.Until(t, func() error {
		backlog, err := s.App.DB.Backlog(t.Context(), time.Now())
		if err == nil && (len(backlog.Failing) == 0 || len(backlog.Pending) == 0) {
			err = errors.New("no webhook fails yet")
		}
		return err
	})
	return scrape(t, s.App.Metrics)
}

// sdkMetrics are the metrics that the SDK's source names, as the service exports them: many exist
// only once something went wrong.
func sdkMetrics(t *testing.T) exported {
	t.Helper()
	directory, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk").Output()
	require.NoError(t, err)
	files := token.NewFileSet()
	source, err := parser.ParseFile(files, filepath.Join(strings.TrimSpace(string(directory)), "internal/common/metrics/constants.go"), nil, 0)
	require.NoError(t, err)
	constants, err := (&types.Config{}).Check("metrics", files, []*ast.File{source}, nil)
	require.NoError(t, err)

	metrics := telemetry.NewMetrics()
	handler := metrics.TemporalHandler()
	gauges := []string{
		"temporal_num_pollers", "temporal_worker_task_slots_available", "temporal_worker_task_slots_used",
		"temporal_sticky_cache_size", "temporal_workflow_active_thread_count",
	}
	for _, name := range constants.Scope().Names() {
		value, ok := constants.Scope().Lookup(name).(*types.Const)
		if !ok || value.Val().Kind() != constant.String {
			continue
		}
		switch metric := constant.StringVal(value.Val()); {
		case !strings.HasPrefix(metric, "temporal_") || metric == "temporal_":
		case slices.Contains(gauges, metric):
			handler.Gauge(metric).Update(1)
		case strings.HasSuffix(metric, "_latency"):
			handler.Timer(metric).Record(time.Second)
		default:
			handler.Counter(metric).Inc(1)
		}
	}
	return scrape(t, metrics)
}

// A name or a label that the service does not export makes an alert that never fires.
func TestQueries_useWhatTheServiceExports(t *testing.T) {
	t.Parallel()
	service, sdk := busyService(t), sdkMetrics(t)
	require.Contains(t, sdk, "temporal_workflow_task_execution_failed_total")
	for _, q := range queries(t) {
		used := selectors(q.expr)
		require.NotEmpty(t, used, "%s: %s", q.file, q.title)
		for _, s := range used {
			if s.metric == "up" {
				continue // Prometheus's own
			}
			labels, seen := service[s.metric]
			if !seen {
				_, known := sdk[s.metric]
				require.True(t, known, "%s: %s: nobody exports %s", q.file, q.title, s.metric)
				continue
			}
			for label := range s.matchers {
				require.Contains(t, labels, label, "%s: %s: %s", q.file, q.title, s.metric)
			}
		}
	}
}

// Others that the same Prometheus scrapes export metrics of the same names: Temporal's server those
// of the SDK, any application those of HTTP requests and of Go.
func TestQueries_areAboutTheServiceAlone(t *testing.T) {
	t.Parallel()
	for _, q := range queries(t) {
		for _, s := range selectors(q.expr) {
			require.Contains(t, s.matchers, "job", "%s: %s: %s", q.file, q.title, s.metric)
			require.True(t, strings.HasPrefix(s.matchers["job"], "despacho-"), "%s: %s: %s", q.file, q.title, s.metric)
		}
	}
}

// A move that no worker makes is counted as unconfirmed, one that is made or refused is not, nor is
// one whose client did not wait.
func TestMoves_areCounted(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{
		NoWorker: true, Configure: func(c *config.Config) { c.Timeouts.Move = 5 * time.Second },
	})
	tenant := s.NewTenant(t)
	cancel := apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + s.CreateOrder(t, tenant.Key) + "/cancel", Key: tenant.Key, Body: map[string]any{}}
	require.Equal(t, http.StatusServiceUnavailable, s.Do(t, cancel).Status)
	requested, unconfirmed := s.App.Orders.MoveCounts()
	require.Equal(t, []int64{1, 1}, []int64{requested, unconfirmed})

	impatient, leave := context.WithCancel(t.Context())
	defer leave()
	request, err := http.NewRequestWithContext(impatient, http.MethodPatch, s.BaseURL+cancel.Path, strings.NewReader("{}"))
	require.NoError(t, err)
	request.Header.Set("X-API-Key", tenant.Key)
	request.Header.Set("Content-Type", "application/json")
	answered := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(request)
		answered <- err
	}()
	poll.Until(t, func() error {
		if !strings.Contains(scrapeText(t, s.App.Metrics), "http_requests_in_flight 1\n") {
			return errors.New("the request has not come in")
		}
		return nil
	})
	leave()
	require.ErrorIs(t, <-answered, context.Canceled)
	poll.Until(t, func() error {
		if !strings.Contains(scrapeText(t, s.App.Metrics), `status="499"} 1`) {
			return errors.New("the request has not ended")
		}
		return nil
	})
	_, unconfirmed = s.App.Orders.MoveCounts()
	require.Equal(t, int64(1), unconfirmed, "a client that leaves does not count")

	s.StartWorker(t)
	poll.Until(t, func() error {
		if answer := s.Do(t, cancel); answer.Status == http.StatusServiceUnavailable {
			return errors.New(answer.Text)
		}
		return nil
	})
	later, still := s.App.Orders.MoveCounts()
	require.Greater(t, later, still, "what is made or refused is confirmed")
}

// The routes that queries name are routes of the service. Those with a parameter are written in
// another way in openapi.yaml; queries name none.
func TestQueries_nameRoutes(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "api/openapi.yaml"))
	require.NoError(t, err)
	var document struct {
		Paths map[string]yaml.Node `yaml:"paths"`
	}
	require.NoError(t, yaml.Unmarshal(content, &document))
	var routes []string
	for path := range document.Paths {
		routes = append(routes, path)
	}
	checked := 0
	for _, q := range queries(t) {
		for _, s := range selectors(q.expr) {
			pattern, ok := s.matchers["route"]
			if !ok {
				continue
			}
			anchored := regexp.MustCompile("^(?:" + pattern + ")$")
			require.True(t, slices.ContainsFunc(routes, anchored.MatchString), "%s: %s: no route is %s", q.file, q.title, pattern)
			checked++
		}
	}
	require.Positive(t, checked)
}
