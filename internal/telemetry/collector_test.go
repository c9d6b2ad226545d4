package telemetry_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"despacho/internal/telemetry"
)

// collector takes spans over OTLP/HTTP as a real one does.
type collector struct {
	url string

	mu       sync.Mutex
	requests []*http.Request
	spans    []*tracepb.Span
	resource map[string]string
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	export, err := readExport(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	for _, from := range export.ResourceSpans {
		c.resource = attributes(from.Resource.Attributes)
		for _, scope := range from.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

func readExport(r *http.Request) (*collectorpb.ExportTraceServiceRequest, error) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		body = unzipped
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	var export collectorpb.ExportTraceServiceRequest
	return &export, proto.Unmarshal(raw, &export)
}

// named returns the one span of that name.
func (c *collector) named(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*tracepb.Span
	var names []string
	for _, span := range c.spans {
		names = append(names, span.Name)
		if span.Name == name {
			found = append(found, span)
		}
	}
	require.Len(t, found, 1, "%q among %q", name, names)
	return found[0]
}

func (c *collector) received() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.spans)
}

func attributes(list []*commonpb.KeyValue) map[string]string {
	values := make(map[string]string, len(list))
	for _, attribute := range list {
		values[attribute.Key] = attribute.Value.GetStringValue()
	}
	return values
}

func traceID(span *tracepb.Span) string { return hex.EncodeToString(span.TraceId) }

// startTracing turns tracing on for one test. Tracing is the process's, so these tests do not run
// in parallel; the returned function turns it off, which sends every span that has ended.
func startTracing(t *testing.T, endpoint string) (flush func()) {
	t.Helper()
	shutdown, err := telemetry.StartTracing(t.Context(), "despacho", "1.2.3", endpoint, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	flush = sync.OnceFunc(func() { require.NoError(t, shutdown(context.Background())) })
	t.Cleanup(flush)
	return flush
}
