package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// The OpenTelemetry variables that are checked here; its libraries read the others themselves.
const (
	endpointVariable       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	resourceVariable       = "OTEL_RESOURCE_ATTRIBUTES"
	disabledVariable       = "OTEL_SDK_DISABLED"
)

// flushTimeout bounds how long a stopping process waits for the collector to accept the last spans.
const flushTimeout = 5 * time.Second

// propagator carries the trace between processes. Baggage is left out: callers' baggage would be
// stored in every workflow's history.
var propagator = traceParent{}

// traceParent carries the ids of a trace and whether it is recorded, and no tracestate: that is up
// to 16 KiB of a caller's text, which would be stored with every span and, unencrypted, in every
// workflow's history.
type traceParent struct{ propagation.TraceContext }

// Extract returns the context with the caller's span, if the carrier names one.
func (p traceParent) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	ctx = p.TraceContext.Extract(ctx, carrier)
	caller := trace.SpanContextFromContext(ctx)
	if !caller.IsRemote() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, caller.WithTraceState(trace.TraceState{}))
}

var enabled atomic.Bool

// Enabled reports whether spans are recorded.
func Enabled() bool { return enabled.Load() }

// StartTracing exports spans to the OTLP/HTTP collector at endpoint, the value of
// OTEL_EXPORTER_OTLP_ENDPOINT; the other OTEL_* variables apply too. With an empty endpoint tracing
// stays off. Call it before GinTracing, TraceGORM and TemporalInterceptor, which check Enabled. The
// returned function flushes the spans and turns tracing off.
func StartTracing(
	ctx context.Context, serviceName, version, endpoint string, log *slog.Logger,
) (shutdown func(context.Context) error, err error) {
	if endpoint == "" || strings.EqualFold(os.Getenv(disabledVariable), "true") {
		return func(context.Context) error { return nil }, nil
	}
	target, err := exporterTarget(endpoint)
	if err != nil {
		return nil, err
	}
	described, err := describeService(ctx, serviceName, version)
	if err != nil {
		return nil, err
	}

	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(logErrors(log))
	exporter, err := otlptracehttp.New(ctx, target...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", endpointVariable, err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagator)
	enabled.Store(true)

	return func(ctx context.Context) error {
		enabled.Store(false)
		otel.SetTracerProvider(noop.NewTracerProvider())
		ctx, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		return provider.Shutdown(ctx)
	}, nil
}

// exporterTarget is the endpoint of the traces, unless the exporter reads a variable of their own.
// The value is left out of the error: it may contain a password.
func exporterTarget(endpoint string) ([]otlptracehttp.Option, error) {
	if os.Getenv(tracesEndpointVariable) != "" {
		return nil, nil
	}
	target, err := url.Parse(endpoint)
	if err != nil || (target.Scheme != "http" && target.Scheme != "https") || target.Hostname() == "" || target.User != nil {
		return nil, fmt.Errorf("%s must be an http or https address such as http://collector:4318, without credentials, "+
			"which go in OTEL_EXPORTER_OTLP_HEADERS", endpointVariable)
	}
	return []otlptracehttp.Option{otlptracehttp.WithEndpointURL(target.JoinPath("v1/traces").String())}, nil
}

// describeService returns the resource of the spans. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
// override it.
func describeService(ctx context.Context, name, version string) (*resource.Resource, error) {
	described, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithAttributes(semconv.ServiceName(name), semconv.ServiceVersion(version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", resourceVariable, err)
	}
	return described, nil
}
