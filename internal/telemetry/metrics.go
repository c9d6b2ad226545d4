// Package telemetry has the service's Prometheus metrics and OpenTelemetry traces.
package telemetry

import (
	"database/sql"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.temporal.io/sdk/client"
)

// Metrics is the content of one process's /metrics.
type Metrics struct {
	registry *prometheus.Registry
	temporal client.MetricsHandler

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics uses its own registry, so that several services can run in one process (tests, dev).
func NewMetrics() *Metrics {
	labels := []string{"method", "route", "status"}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_requests_total",
			Help: "Requests answered.",
		}, labels),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "http_request_duration_seconds",
			Help:    "Time from a request's arrival to the end of its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, labels),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight",
			Help: "Requests being answered.",
		}),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.duration, m.inFlight,
	)
	m.temporal = newTemporalHandler(m.registry)
	return m
}

// Handler serves /metrics. A collector that fails loses only its own metrics and is counted; the
// others are still served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry:      m.registry,
		ErrorHandling: promhttp.ContinueOnError,
	})
}

// HTTP counts and times requests by method, route and status. Register it before the middleware
// that recovers from panics.
func (m *Metrics) HTTP() gin.HandlerFunc {
	return func(c *gin.Context) {
		started := time.Now()
		m.inFlight.Inc()
		// The status if a panic passes through here.
		status := http.StatusInternalServerError
		defer func() {
			m.inFlight.Dec()
			labels := []string{methodLabel(c.Request.Method), routeLabel(c.FullPath()), strconv.Itoa(status)}
			m.requests.WithLabelValues(labels...).Inc()
			m.duration.WithLabelValues(labels...).Observe(time.Since(started).Seconds())
		}()
		c.Next()
		status = c.Writer.Status()
	}
}

// WatchDatabase exports the connection pool's figures (go_sql_*).
func (m *Metrics) WatchDatabase(sqlDB *sql.DB) {
	m.registry.MustRegister(collectors.NewDBStatsCollector(sqlDB, "despacho"))
}

// Gauge exports a figure that is read with every scrape.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Counter exports a count since the start of the process.
func (m *Metrics) Counter(name, help string, read func() int64) {
	count := func() float64 { return float64(read()) }
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, count))
}

// OneIf is the figure of a condition.
func OneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// routeLabel is the route's template. Unmatched paths share one label: callers choose them freely,
// and each label takes memory.
func routeLabel(template string) string {
	if template == "" {
		return "unmatched"
	}
	return template
}

// methodLabel keeps the standard methods; others share one label for the same reason.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return "other"
}
