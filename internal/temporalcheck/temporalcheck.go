// Package temporalcheck asks whether Temporal serves the orders.
package temporalcheck

import (
	"context"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Namespace returns an error unless Temporal answers and has the namespace. A server is well
// without a namespace, or where it refuses the caller's key, and then starts no workflow.
func Namespace(ctx context.Context, temporal client.Client, name string) error {
	if _, err := temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return err
	}
	_, err := temporal.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name})
	return err
}
