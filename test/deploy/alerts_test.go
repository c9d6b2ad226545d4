package deploy_test

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/stretchr/testify/require"
)

// readAlerts reads names, durations, templates and PromQL as `promtool check rules` does.
func readAlerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(
		filepath.Join(deploy, "prometheus/alerts.yml"), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	var rules []rulefmt.Rule
	for _, group := range groups.Groups {
		rules = append(rules, group.Rules...)
	}
	require.NotEmpty(t, rules)
	return rules
}

// situation is what Prometheus has seen, one value a minute: with the first series an alert fires,
// with the second it does not.
type situation struct{ fires, rests []string }

var situations = map[string]situation{
	"DespachoProcessDown": {
		[]string{`up{job="despacho-api", instance="a"} 1x30`, `up{job="despacho-worker", instance="b"} 0x30`},
		[]string{`up{job="despacho-api", instance="a"} 1x30`, `up{job="other", instance="b"} 0x30`},
	},
	"DespachoNoProcess": {
		[]string{`up{job="despacho-api", instance="a"} 1x30`},
		[]string{`up{job="despacho-api", instance="a"} 0x30`, `up{job="despacho-worker", instance="b"} 1x30`},
	},
	"DespachoWorkersNotPolling": {
		[]string{`temporal_num_pollers{job="despacho-worker", poller_type="workflow_task", instance="a"} 0x30`, `temporal_num_pollers{job="despacho-worker", poller_type="activity_task", instance="a"} 2x30`},
		[]string{`temporal_num_pollers{job="despacho-worker", poller_type="workflow_task", instance="a"} 0x30`, `temporal_num_pollers{job="despacho-worker", poller_type="workflow_task", instance="b"} 2x30`},
	},
	"DespachoRequestsFailing": {
		[]string{`http_requests_total{job="despacho-api", route="/a", status="200"} 0+60x30`, `http_requests_total{job="despacho-api", route="/b", status="503"} 0+2x30`},
		[]string{`http_requests_total{job="despacho-api", route="/a", status="200"} 0+60x30`, `http_requests_total{job="despacho-api", route="/b", status="503"} 0+1x30`},
	},
	"DespachoMovesUnconfirmed": {
		[]string{`order_moves_total{job="despacho-api", instance="a"} 0+10x30`, `order_moves_unconfirmed_total{job="despacho-api", instance="a"} 0+1x30`},
		[]string{`order_moves_total{job="despacho-api", instance="a"} 0x30`, `order_moves_unconfirmed_total{job="despacho-api", instance="a"} 0x30`},
	},
	"DespachoRequestsSlow": {
		[]string{`http_request_duration_seconds_bucket{job="despacho-api", route="/v1/orders", method="POST", le="2.5"} 0+9x30`, `http_request_duration_seconds_bucket{job="despacho-api", route="/v1/orders", method="POST", le="5"} 0+10x30`, `http_request_duration_seconds_bucket{job="despacho-api", route="/v1/orders", method="POST", le="+Inf"} 0+10x30`},
		[]string{`http_request_duration_seconds_bucket{job="despacho-api", route="/v1/orders", method="POST", le="1"} 0+10x30`, `http_request_duration_seconds_bucket{job="despacho-api", route="/v1/orders", method="POST", le="+Inf"} 0+10x30`},
	},
	"DespachoRateLimited": {
		[]string{`http_requests_total{job="despacho-api", route="/v1/orders", status="429"} 0+3x30`, `http_requests_total{job="despacho-api", route="/v1/stores", status="200"} 0+7x30`},
		[]string{`http_requests_total{job="despacho-api", route="/v1/orders", status="429"} 0+1x30`, `http_requests_total{job="despacho-api", route="/v1/stores", status="200"} 0+7x30`},
	},
	"DespachoDatabaseConnectionsShort": {
		[]string{`go_sql_wait_duration_seconds_total{job="despacho-api", db_name="despacho", instance="a"} 0+90x30`},
		[]string{`go_sql_wait_duration_seconds_total{job="despacho-api", db_name="despacho", instance="a"} 0+30x30`},
	},
	"DespachoOrdersWithoutWorkflow": {
		[]string{`orders_without_workflow_oldest_seconds{job="despacho-api", instance="a"} 0+60x30`},
		[]string{`orders_without_workflow_oldest_seconds{job="despacho-api", instance="a"} 10x30`},
	},
	"DespachoWorkflowsReplaced": {
		[]string{`order_workflows_replaced_total{job="despacho-worker", instance="a"} 0+1x30`},
		[]string{`order_workflows_replaced_total{job="despacho-worker", instance="a"} 3x30`},
	},
	"DespachoReconcilePaused": {
		[]string{`reconcile_schedule_paused{job="despacho-worker", instance="a"} 1x30`, `reconcile_schedule_paused{job="despacho-worker", instance="b"} 1x30`},
		[]string{`reconcile_schedule_paused{job="despacho-worker", instance="a"} 0x30`},
	},
	"DespachoBacklogUnknown": {
		[]string{`up{job="despacho-api", instance="a"} 1x30`},
		[]string{`orders_without_workflow{job="despacho-api", instance="a"} 0x30`},
	},
	"DespachoWebhooksOverdue": {
		[]string{`webhook_deliveries_overdue_seconds{job="despacho-api", instance="a"} 0+60x30`},
		[]string{`webhook_deliveries_overdue_seconds{job="despacho-api", instance="a"} 10x30`},
	},
	"DespachoWebhookFailing": {
		[]string{`webhook_failing_seconds{job="despacho-api", webhook="w", operator="o", instance="a"} 90000x30`, `webhook_failing_seconds{job="despacho-api", webhook="w", operator="o", instance="b"} 90000x30`},
		[]string{`webhook_failing_seconds{job="despacho-api", webhook="w", operator="o", instance="a"} 3600x30`},
	},
	"DespachoWorkflowTasksLate": {
		[]string{`temporal_workflow_task_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="1"} 0+1x30`, `temporal_workflow_task_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="5"} 0+10x30`, `temporal_workflow_task_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="+Inf"} 0+10x30`},
		[]string{`temporal_workflow_task_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="0.1"} 0x30`, `temporal_workflow_task_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="+Inf"} 0x30`},
	},
	"DespachoActivitiesLate": {
		[]string{`temporal_activity_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="5"} 0+1x30`, `temporal_activity_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="10"} 0+10x30`, `temporal_activity_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="+Inf"} 0+10x30`},
		[]string{`temporal_activity_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="0.1"} 0+10x30`, `temporal_activity_schedule_to_start_latency_seconds_bucket{job="despacho-worker", le="+Inf"} 0+10x30`},
	},
	"DespachoWorkflowTasksFailing": {
		[]string{`temporal_workflow_task_execution_failed_total{job="despacho-worker", workflow_type="Order", instance="a"} 0+1x30`},
		[]string{`temporal_workflow_task_execution_failed_total{job="despacho-worker", workflow_type="Order", instance="a"} 7x30`},
	},
	"DespachoActivitiesFailing": {
		[]string{`temporal_activity_execution_failed_total{job="despacho-worker", activity_type="Reconcile", instance="a"} 0+1x30`, `temporal_activity_execution_latency_seconds_count{job="despacho-worker", activity_type="Reconcile", instance="a"} 0+1x30`},
		[]string{`temporal_activity_execution_failed_total{job="despacho-worker", activity_type="ResolveMapLink", instance="a"} 0+1x30`, `temporal_activity_execution_latency_seconds_count{job="despacho-worker", activity_type="ResolveMapLink", instance="a"} 0+5x30`},
	},
	"DespachoStickyCacheTooSmall": {
		[]string{
			`temporal_sticky_cache_miss_total{job="despacho-worker", instance="a"} 0+8x30`, `temporal_sticky_cache_hit_total{job="despacho-worker", instance="a"} 0+2x30`,
			`temporal_workflow_task_replay_latency_seconds_bucket{job="despacho-worker", le="0.5"} 0+1x30`, `temporal_workflow_task_replay_latency_seconds_bucket{job="despacho-worker", le="1"} 0+8x30`, `temporal_workflow_task_replay_latency_seconds_bucket{job="despacho-worker", le="+Inf"} 0+8x30`,
		},
		[]string{
			`temporal_sticky_cache_miss_total{job="despacho-worker", instance="a"} 0+8x30`, `temporal_sticky_cache_hit_total{job="despacho-worker", instance="a"} 0+2x30`,
			`temporal_workflow_task_replay_latency_seconds_bucket{job="despacho-worker", le="0.1"} 0+8x30`, `temporal_workflow_task_replay_latency_seconds_bucket{job="despacho-worker", le="+Inf"} 0+8x30`,
		},
	},
	"DespachoTemporalLimits": {
		[]string{`temporal_request_resource_exhausted_total{job="despacho-worker", operation="StartWorkflowExecution", instance="a"} 0+60x30`},
		[]string{`temporal_request_resource_exhausted_total{job="despacho-worker", operation="StartWorkflowExecution", instance="a"} 5x30`},
	},
	"DespachoDatabaseFull": {
		[]string{`database_disk_full_total{job="despacho-api", instance="a"} 0x28 3x2`},
		[]string{`database_disk_full_total{job="despacho-api", instance="a"} 3x30`},
	},
	"DespachoPhotosNotStored": {
		[]string{`photos_not_stored_total{job="despacho-api", instance="a"} 0+1x30`, `photos_not_stored_total{job="despacho-api", instance="b"} 0+1x30`},
		[]string{`photos_not_stored_total{job="despacho-api", instance="a"} 3x30`},
	},
	"DespachoDiskLow": {
		[]string{`disk_free_bytes{job="despacho-api", volume="photos", instance="a"} 5x30`, `disk_size_bytes{job="despacho-api", volume="photos", instance="a"} 100x30`},
		[]string{`disk_free_bytes{job="despacho-api", volume="photos", instance="a"} 50x30`, `disk_size_bytes{job="despacho-api", volume="photos", instance="a"} 100x30`},
	},
	"DespachoPhotoSweepRefused": {
		[]string{`photo_sweep_refused{job="despacho-api", instance="a"} 1x30`},
		[]string{`photo_sweep_refused{job="despacho-api", instance="a"} 0x30`},
	},
}

// alsoFires are further series with which an alert fires.
var alsoFires = map[string][][]string{
	"DespachoRequestsFailing": {
		// Every request of a quiet night fails, and the probes do not.
		{`http_requests_total{job="despacho-api", route="/readyz", status="200"} 0+60x30`, `http_requests_total{job="despacho-api", route="/healthz", status="200"} 0+60x30`, `http_requests_total{job="despacho-api", route="/v1/orders", status="500"} 0+1x30`},
		// The balancer sends nothing to a service that is not ready.
		{`http_requests_total{job="despacho-api", route="/readyz", status="503"} 0+60x30`, `http_requests_total{job="despacho-api", route="/healthz", status="200"} 0+60x30`, `http_requests_total{job="despacho-api", route="/v1/orders", status="200"} 900x30`},
	},
}

// seen is what a Prometheus has stored.
type seen []promql.Series

// load reads series as promtool's tests write them, one value a minute.
func load(t *testing.T, descriptions []string) seen {
	t.Helper()
	var loaded seen
	for _, description := range descriptions {
		metric, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(description)
		require.NoError(t, err, description)
		series := promql.Series{Metric: metric}
		for minute, value := range values {
			at := time.Duration(minute) * time.Minute
			series.Floats = append(series.Floats, promql.FPoint{T: at.Milliseconds(), F: value.Value})
		}
		loaded = append(loaded, series)
	}
	return loaded
}

// ofJob are the series as another job exports them.
func (s seen) ofJob(job string) seen {
	others := slices.Clone(s)
	for i := range others {
		others[i].Metric = labels.NewBuilder(others[i].Metric).Set("job", job).Labels()
	}
	return others
}

// Querier is the part of a storage that a query needs.
func (s seen) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, series := range s {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Metric.Get(m.Name)) }) {
				found = append(found, promql.NewStorageSeries(series))
			}
		}
		return &seriesSet{rest: found}
	}}, nil
}

// seriesSet goes through series one by one.
type seriesSet struct {
	current storage.Series
	rest    []storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.current, s.rest = s.rest[0], s.rest[1:]
	return true
}

func (s *seriesSet) At() storage.Series                { return s.current }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// Prometheus's own engine evaluates every alert on series that should raise it and on such that
// should not: a valid expression whose sides never match would be silent for ever.
func TestAlerts_fireAndRest(t *testing.T) {
	t.Parallel()
	engine, alerts := newEngine(), readAlerts(t)
	for _, alert := range alerts {
		known, ok := situations[alert.Alert]
		require.True(t, ok, "%s: no situation in which it fires", alert.Alert)
		require.Len(t, raised(t, engine, alert, known.fires, 30*time.Minute), 1, "%s: one alert for one reason", alert.Alert)
		require.Empty(t, raised(t, engine, alert, known.rests, 30*time.Minute), alert.Alert)
		for _, series := range alsoFires[alert.Alert] {
			require.Len(t, raised(t, engine, alert, series, 30*time.Minute), 1, "%s on %v", alert.Alert, series)
		}
	}
	require.Len(t, situations, len(alerts), "a situation of an alert that is gone")
}

// A Prometheus may scrape others that export metrics of the same names, as Temporal's server does
// with those of its own workers: they neither raise an alert nor keep one from firing.
func TestAlerts_leaveOutOtherJobs(t *testing.T) {
	t.Parallel()
	engine := newEngine()
	for _, alert := range readAlerts(t) {
		known := situations[alert.Alert]
		fires, rests := load(t, known.fires), load(t, known.rests)
		require.Len(t, raisedOn(t, engine, alert, append(rests.ofJob("temporal"), fires...), 30*time.Minute), 1, "%s is hidden by others", alert.Alert)
		require.Empty(t, raisedOn(t, engine, alert, append(fires.ofJob("temporal"), rests...), 30*time.Minute), "%s is raised by others", alert.Alert)
	}
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
}

// raised are the alerts that a rule's expression raises at a time after the first values.
func raised(t *testing.T, engine *promql.Engine, alert rulefmt.Rule, series []string, at time.Duration) promql.Vector {
	t.Helper()
	return raisedOn(t, engine, alert, load(t, series), at)
}

func raisedOn(t *testing.T, engine *promql.Engine, alert rulefmt.Rule, stored seen, at time.Duration) promql.Vector {
	t.Helper()
	query, err := engine.NewInstantQuery(t.Context(), stored, nil, alert.Expr, time.UnixMilli(0).Add(at))
	require.NoError(t, err)
	result := query.Exec(t.Context())
	require.NoError(t, result.Err)
	vector, err := result.Vector()
	require.NoError(t, err)
	return vector
}

// An order whose task Temporal tries every ten minutes stands still all the time: the alert does
// not end between two attempts.
func TestAlerts_lastBetweenAttempts(t *testing.T) {
	t.Parallel()
	engine, alerts := newEngine(), readAlerts(t)
	alert := alerts[slices.IndexFunc(alerts, func(rule rulefmt.Rule) bool { return rule.Alert == "DespachoWorkflowTasksFailing" })]
	attempts := []string{`temporal_workflow_task_execution_failed_total{job="despacho-worker", workflow_type="Order", instance="a"} 0x9 1x9 2x9 3x9`}
	var pause time.Duration
	for at := 10 * time.Minute; at < 40*time.Minute; at += time.Minute {
		if len(raised(t, engine, alert, attempts, at)) > 0 {
			pause = 0
			continue
		}
		pause += time.Minute
		require.Less(t, pause, time.Duration(alert.KeepFiringFor), "%s ends at %s", alert.Alert, at)
	}
}
