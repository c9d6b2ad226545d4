package app

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"

	"despacho/internal/historycodec"
	"despacho/internal/telemetry"
	"despacho/workflows"
)

// openCodec makes the codec of HISTORY_KEYS. Without keys it encrypts nothing, and recognises what
// it cannot read. The schedule of the reconcile workflow is not encrypted: it holds nothing of any
// order, and a process without the key must be able to read and to replace it.
func (a *App) openCodec() error {
	keys, err := historycodec.ParseKeys(a.Config.HistoryKeys, a.Config.HistoryKeyID)
	if err != nil {
		return fmt.Errorf("HISTORY_KEYS and HISTORY_KEY_ID: %w", err)
	}
	if keys.EncryptWith() != "" {
		a.log.Info("what Temporal stores is encrypted", "key_id", keys.EncryptWith())
	}
	a.codec = historycodec.New(keys, workflows.ReconcileScheduleID(a.Config.TaskQueue))
	return nil
}

// connectTemporal makes lazy clients: they connect on first use, so that the API starts and accepts
// orders without Temporal.
func (a *App) connectTemporal(options client.Options) error {
	options.Logger = sdklog.NewStructuredLogger(a.log.With("component", "temporal"))
	options.MetricsHandler = a.Metrics.TemporalHandler()
	if options.ConnectionOptions.TLS == nil && options.ConnectionOptions.GrpcCompression == nil {
		// A Temporal without TLS is on the same network: compressing a kilobyte or two takes longer
		// than sending it.
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	tracing, err := telemetry.TemporalInterceptor()
	if err != nil {
		return err
	}
	if telemetry.Enabled() {
		options.Interceptors = append(options.Interceptors, interceptor.ClientInterceptor(tracing))
	}
	a.namespace = options.Namespace
	if a.namespace == "" {
		a.namespace = client.DefaultNamespace
	}
	a.codec.Apply(&options)
	if a.Temporal, err = client.NewLazyClient(options); err != nil {
		return fmt.Errorf("TEMPORAL_* configuration: %w", err)
	}
	a.codec.ForTasks().Apply(&options)
	a.tasks, err = client.NewLazyClient(options)
	return err
}
