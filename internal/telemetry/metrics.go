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

// WatchDatabase exports the connection pool's figures (go_sql_*). A second call replaces the pool.
func (m *Metrics) WatchDatabase(sqlDB *sql.DB) {
	pool := collectors.NewDBStatsCollector(sqlDB, "despacho")
	m.registry.Unregister(pool) // collectors are equal by name, so this removes the previous pool
	m.registry.MustRegister(pool)
}

// WatchStarts exports how far the process is behind with the workflows of created orders.
func (m *Metrics) WatchStarts(backlog func() (waiting int, oldest time.Duration, failed int64)) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "order_starts_waiting",
			Help: "Created orders whose workflow this process has not started yet.",
		}, func() float64 { waiting, _, _ := backlog(); return float64(waiting) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "order_starts_oldest_seconds",
			Help: "How long the first of them has waited.",
		}, func() float64 { _, oldest, _ := backlog(); return oldest.Seconds() }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "order_starts_failed_total",
			Help: "Starts that this process has left to the reconcile workflow.",
		}, func() float64 { _, _, failed := backlog(); return float64(failed) }),
	)
}

// WatchMoves exports how many moves this process was asked for, over whatever route, and how many
// of them were not confirmed.
func (m *Metrics) WatchMoves(counts func() (requested, unconfirmed int64)) {
	m.registry.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "order_moves_total",
			Help: "Moves that this process was asked for, by the API and the panel.",
		}, func() float64 { requested, _ := counts(); return float64(requested) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "order_moves_unconfirmed_total",
			Help: "Moves that were answered 503: their outcome was not known in time.",
		}, func() float64 { _, unconfirmed := counts(); return float64(unconfirmed) }),
	)
}

// WatchFullDisk exports how often the database had no space for what this process had to write.
func (m *Metrics) WatchFullDisk(errors func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "database_disk_full_total",
		Help: "Requests and readiness checks of this process that the database had no disk space for.",
	}, func() float64 { return float64(errors()) }))
}

// WatchPhotoErrors exports how often this process could not store a photo.
func (m *Metrics) WatchPhotoErrors(errors func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "photos_not_stored_total",
		Help: "Requests and readiness checks of this process that could not store a photo.",
	}, func() float64 { return float64(errors()) }))
}

// WatchPhotos exports the outcome of the latest sweep of the photos.
func (m *Metrics) WatchPhotos(sweep func() (quarantined, unknown int, refused bool)) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "photos_in_quarantine",
			Help: "Photos that no delivery refers to and that wait for their deletion.",
		}, func() float64 { quarantined, _, _ := sweep(); return float64(quarantined) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "photos_unknown",
			Help: "Photos outside of the quarantine that the database did not know in the latest sweep.",
		}, func() float64 { _, unknown, _ := sweep(); return float64(unknown) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "photo_sweep_refused",
			Help: "1 if the latest sweep moved and deleted no photo because the database did not know most of them.",
		}, func() float64 { _, _, refused := sweep(); return oneIf(refused) }),
	)
}

// WatchReconcile exports whether the reconcile schedule is paused.
func (m *Metrics) WatchReconcile(paused func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "reconcile_schedule_paused",
		Help: "1 if somebody has paused the schedule of the reconcile workflow.",
	}, func() float64 { return oneIf(paused()) }))
}

func oneIf(condition bool) float64 {
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
