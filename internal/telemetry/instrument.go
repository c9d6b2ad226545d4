package telemetry

import (
	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/contrib/instrumentation/github.com/gin-gonic/gin/otelgin"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// GinTracing makes a span of every request except health checks, as a child of the caller's span if
// there is one. It has the request's route and not its path, which can be a guide code. With
// tracing off it does nothing.
func GinTracing() gin.HandlerFunc {
	if !Enabled() {
		return func(*gin.Context) {}
	}
	noPath := trace.WithAttributes(semconv.URLPath("")) // in place of the path that otelgin sets
	return otelgin.Middleware("", otelgin.WithGinFilter(isNotProbe), otelgin.WithSpanStartOptions(noPath))
}

// isNotProbe excludes the health checks, which come every few seconds.
func isNotProbe(c *gin.Context) bool {
	return c.FullPath() != "/healthz" && c.FullPath() != "/readyz"
}

// TemporalInterceptor propagates the trace from the client that starts or updates a workflow into
// the workflow and its activities. Set it only in client.Options: workers made with that client use
// it too. With tracing off it does nothing.
func TemporalInterceptor() (interceptor.Interceptor, error) {
	if !Enabled() {
		return &interceptor.InterceptorBase{}, nil
	}
	return temporalotel.NewTracingInterceptor(temporalotel.TracerOptions{
		TextMapPropagator: propagator,
		// An unreadable header must lose the trace, not fail the workflow task.
		AllowInvalidParentSpans: true,
	})
}
