package dev

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

// waitUntilReady returns when the frontend is healthy and the namespace and its search attributes
// can be used: an open port says little, the services behind it are still joining.
func (t *Temporal) waitUntilReady(ctx context.Context, options TemporalOptions, uiAddress string) error {
	addresses := []string{t.Address}
	if uiAddress != "" {
		addresses = append(addresses, uiAddress)
	}
	for _, address := range addresses {
		// A gRPC client that meets a closed port waits a second before it tries again, so it comes
		// after the port.
		if err := t.process.poll(ctx, func(ctx context.Context) error { return dialTCP(ctx, address) }); err != nil {
			return err
		}
	}
	connection, err := client.NewLazyClient(client.Options{HostPort: t.Address, Namespace: options.Namespace, Logger: discardLogger})
	if err != nil {
		return err
	}
	defer connection.Close()
	return t.process.poll(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if _, err := connection.CheckHealth(ctx, nil); err != nil {
			return err
		}
		_, err := connection.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: options.Namespace})
		if err != nil {
			return err
		}
		if err := addSearchAttributes(ctx, connection, options); err != nil {
			return err
		}
		return searchAttributesKnown(ctx, connection, options)
	})
}

// addSearchAttributes registers what an older database file lacks: the server registers attributes
// only along with a new namespace.
func addSearchAttributes(ctx context.Context, connection client.Client, options TemporalOptions) error {
	operator := connection.OperatorService()
	known, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: options.Namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for name, typeName := range options.SearchAttributes {
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
		Namespace: options.Namespace, SearchAttributes: missing,
	})
	return err
}

// searchAttributesKnown fails while a server that has just been given attributes does not accept
// them yet: it looks every two seconds.
func searchAttributesKnown(ctx context.Context, connection client.Client, options TemporalOptions) error {
	for name := range options.SearchAttributes {
		_, err := connection.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: options.Namespace, Query: name + " IS NULL"})
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
