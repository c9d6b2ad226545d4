package telemetry_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"gorm.io/gorm"

	"despacho/internal/telemetry"
)

// frontend takes workflow starts and keeps the headers they came with, as Temporal would for the
// worker.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	headers chan *commonpb.Header
}

func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (f *frontend) StartWorkflowExecution(_ context.Context, start *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	f.headers <- start.Header
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

func connect(t *testing.T, metrics *telemetry.Metrics, tracing interceptor.Interceptor) (client.Client, *frontend) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	service := &frontend{headers: make(chan *commonpb.Header, 1)}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, service)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	temporal, err := client.NewLazyClient(client.Options{
		HostPort:       listener.Addr().String(),
		Interceptors:   []interceptor.ClientInterceptor{tracing},
		MetricsHandler: metrics.TemporalHandler(),
		Logger:         log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	return temporal, service
}

// couriers is the activity's side: it writes what the workflow decided.
type couriers struct{ db *gorm.DB }

func (a *couriers) Register(ctx context.Context) error {
	return a.db.WithContext(ctx).Create(&parcel{ID: 1}).Error
}

func orderLife(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return workflow.ExecuteActivity(ctx, "Register").Get(ctx, nil)
}

// work runs the workflow as a worker with this interceptor would.
func work(t *testing.T, tracing interceptor.Interceptor, header *commonpb.Header, activities any) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	suite.SetHeader(header)
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{tracing}})
	env.RegisterWorkflow(orderLife)
	env.RegisterActivity(activities)
	env.ExecuteWorkflow(orderLife)
	require.NoError(t, env.GetWorkflowError())
}

// createOrder starts the workflow from inside a request and returns the header it was started with.
func createOrder(t *testing.T, tracing interceptor.Interceptor, metrics *telemetry.Metrics) *commonpb.Header {
	t.Helper()
	temporal, service := connect(t, metrics, tracing)
	router := gin.New()
	router.Use(telemetry.GinTracing())
	router.POST("/v1/orders", func(c *gin.Context) {
		_, err := temporal.ExecuteWorkflow(c.Request.Context(), client.StartWorkflowOptions{ID: "order-1", TaskQueue: "orders"}, orderLife)
		require.NoError(t, err)
		c.Status(http.StatusCreated)
	})
	request := httptest.NewRequest(http.MethodPost, "/v1/orders", nil)
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	request.Header.Set("Tracestate", "vendor=stranger")
	request.Header.Set("Baggage", "stranger=1")
	router.ServeHTTP(httptest.NewRecorder(), request)
	return <-service.headers
}

func TestTracing_fromRequestToWorkflowToActivity(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	tracing, err := telemetry.TemporalInterceptor()
	require.NoError(t, err)
	db := openDatabase(t)
	require.NoError(t, telemetry.TraceGORM(db))

	header := createOrder(t, tracing, telemetry.NewMetrics())
	require.NotContains(t, header.String(), "stranger", "what the caller says stays out of the history")
	work(t, tracing, header, &couriers{db})
	flush()

	path := []string{
		"POST /v1/orders", "StartWorkflow:orderLife", "RunWorkflow:orderLife",
		"StartActivity:Register", "RunActivity:Register", "INSERT parcels",
	}
	parent := collector.named(t, path[0])
	for _, name := range path[1:] {
		span := collector.named(t, name)
		require.Equal(t, traceID(parent), traceID(span), name)
		require.Equal(t, parent.SpanId, span.ParentSpanId, name)
		parent = span
	}
}

func TestTracing_offTemporalWorksAllTheSame(t *testing.T) {
	tracing, err := telemetry.TemporalInterceptor()
	require.NoError(t, err)
	metrics := telemetry.NewMetrics()
	header := createOrder(t, tracing, metrics)
	require.Empty(t, header.GetFields())
	work(t, tracing, header, &couriers{openDatabase(t)})
	require.Contains(t, scrape(t, metrics), `temporal_request_total{`, "the client reports what it does")
	require.Contains(t, scrape(t, metrics), `operation="StartWorkflowExecution"`)
}

func TestTracing_aHeaderThatCannotBeReadCostsOnlyTheTrace(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	tracing, err := telemetry.TemporalInterceptor()
	require.NoError(t, err)
	garbage, err := converter.GetDefaultDataConverter().ToPayload(map[string]string{"traceparent": "garbage"})
	require.NoError(t, err)

	header := &commonpb.Header{Fields: map[string]*commonpb.Payload{"_tracer-data": garbage}}
	work(t, tracing, header, &couriers{openDatabase(t)})
	flush()
	require.Empty(t, collector.named(t, "RunWorkflow:orderLife").ParentSpanId)
}
