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

// temporalBuckets reach from one gRPC call (milliseconds) to a whole order's life (a day and more).
var temporalBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 600, 3600, 21600, 86400, 259200}

// TemporalHandler takes the Temporal SDK's metrics into the same registry, under the names Temporal
// documents for Prometheus: temporal_…_total for counters, temporal_…_seconds for timers.
func (m *Metrics) TemporalHandler() client.MetricsHandler { return m.temporal }

// newTemporalHandler goes through OpenTelemetry because the SDK reports one name with different
// sets of tags, which a Prometheus vector refuses.
func newTemporalHandler(registry *prometheus.Registry) client.MetricsHandler {
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(registry),
		otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithoutTargetInfo(),
	)
	if err != nil {
		// Only an exporter registered twice fails, and this registry is new.
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
		// The default panics: a metric is not worth a worker.
		OnError:              otel.Handle,
		UseMonotonicCounters: true,
	})
}
