package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

// temporalReadiness is what a Temporal server can do once it is ready.
type temporalReadiness struct {
	// addresses accept connections; the first is the frontend's.
	addresses []string
	// namespace can be used; createNamespace registers it where the server does not do so itself.
	namespace       string
	createNamespace bool
	// searchAttributes are registered in the namespace: name → type.
	searchAttributes map[string]string
}

// check fails until the frontend is healthy and the namespace and its search attributes can be
// used: an open port says little, the services behind it are still joining.
func (r temporalReadiness) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, address := range r.addresses {
		// A gRPC client that meets a closed port waits a second before it tries again, so it comes
		// after the port.
		if err := dialTCP(ctx, address); err != nil {
			return err
		}
	}
	connection, err := client.NewLazyClient(client.Options{HostPort: r.addresses[0], Namespace: r.namespace,
		Logger: discardLogger})
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := r.registerNamespace(ctx, connection); err != nil {
		return err
	}
	if _, err := connection.CheckHealth(ctx, nil); err != nil {
		return err
	}
	if _, err := connection.WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: r.namespace}); err != nil {
		return err
	}
	if err := r.addSearchAttributes(ctx, connection); err != nil {
		return err
	}
	return r.searchAttributesKnown(ctx, connection)
}

func (r temporalReadiness) registerNamespace(ctx context.Context, connection client.Client) error {
	if !r.createNamespace {
		return nil
	}
	_, err := connection.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: r.namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	var already *serviceerror.NamespaceAlreadyExists
	if errors.As(err, &already) {
		return nil
	}
	return err
}

// addSearchAttributes registers what an older database file lacks: the server registers attributes
// only along with a new namespace.
func (r temporalReadiness) addSearchAttributes(ctx context.Context, connection client.Client) error {
	operator := connection.OperatorService()
	known, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: r.namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for name, typeName := range r.searchAttributes {
		valueType, err := enums.IndexedValueTypeFromString(typeName)
		if err != nil {
			return fmt.Errorf("search attribute %s: %w", name, err)
		}
		if _, ok := known.GetCustomAttributes()[name]; !ok {
			missing[name] = valueType
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: r.namespace, SearchAttributes: missing,
	})
	return err
}

// searchAttributesKnown fails while a server that has just been given attributes does not accept
// them yet: it looks every two seconds.
func (r temporalReadiness) searchAttributesKnown(ctx context.Context, connection client.Client) error {
	for name := range r.searchAttributes {
		_, err := connection.CountWorkflow(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{Namespace: r.namespace, Query: name + " IS NULL"})
		if err != nil {
			return err
		}
	}
	return nil
}

func dialTCP(ctx context.Context, address string) error {
	connection, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// discardLogger drops the SDK's log of attempts that are expected to fail.
var discardLogger = log.NewStructuredLogger(slog.New(slog.DiscardHandler))
