package telemetry

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.temporal.io/sdk/client"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
)

// temporalBuckets range from one gRPC call (milliseconds) to an order's whole workflow (a day and
// more).
var temporalBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 600, 3600, 21600, 86400,
	259200}

// TemporalHandler adds the Temporal SDK's metrics to the same registry, under the names that
// Temporal documents for Prometheus: temporal_…_total for counters, temporal_…_seconds for timers.
func (m *Metrics) TemporalHandler() client.MetricsHandler { return m.temporal }

// newTemporalHandler uses OpenTelemetry because the SDK reports one name with different sets of
// tags, which a Prometheus vector rejects.
func newTemporalHandler(registry *prometheus.Registry) client.MetricsHandler {
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(registry),
		otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithoutTargetInfo(),
	)
	if err != nil {
		// It only fails if the exporter is registered twice, and this registry is new.
		panic(fmt.Errorf("metrics of the Temporal SDK: %w", err))
	}
	inSeconds := metric.NewView(
		metric.Instrument{Kind: metric.InstrumentKindHistogram},
		metric.Stream{Aggregation: metric.AggregationExplicitBucketHistogram{Boundaries: temporalBuckets, NoMinMax: true}},
	)
	provider := metric.NewMeterProvider(
		metric.WithReader(exporter),
		metric.WithView(inSeconds),
		metric.WithResource(resource.Empty()),
		metric.WithExemplarFilter(exemplar.AlwaysOffFilter),
	)
	return temporalotel.NewMetricsHandler(temporalotel.MetricsHandlerOptions{
		Meter: provider.Meter("temporal-sdk-go"),
		// The default handler panics: an invalid metric must not stop a worker.
		OnError:              otel.Handle,
		UseMonotonicCounters: true,
	})
}
