package telemetry

import (
	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/contrib/instrumentation/github.com/gin-gonic/gin/otelgin"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// GinTracing makes a span of every request but the probes, continuing the caller's trace where it
// brings one. With tracing off it does nothing.
func GinTracing() gin.HandlerFunc {
	if !Enabled() {
		return func(*gin.Context) {}
	}
	return otelgin.Middleware("", otelgin.WithGinFilter(isNotProbe))
}

// isNotProbe leaves out what an orchestrator asks every few seconds and nobody investigates.
func isNotProbe(c *gin.Context) bool {
	return c.FullPath() != "/healthz" && c.FullPath() != "/readyz"
}

// TemporalInterceptor carries the trace from whoever starts or updates a workflow into the workflow
// and its activities. It belongs in client.Options alone: workers made with that client use it too.
// With tracing off it changes nothing.
func TemporalInterceptor() (interceptor.Interceptor, error) {
	if !Enabled() {
		return &interceptor.InterceptorBase{}, nil
	}
	return temporalotel.NewTracingInterceptor(temporalotel.TracerOptions{
		TextMapPropagator: propagator,
		// A header that cannot be read costs the trace, never the workflow task.
		AllowInvalidParentSpans: true,
	})
}
