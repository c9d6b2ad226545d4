package workflows

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// SignalRefresh tells an order's workflow to reload the order. running is false if the order has no
// running workflow.
func SignalRefresh(ctx context.Context, temporal client.Client, orderID uuid.UUID) (running bool, err error) {
	err = temporal.SignalWorkflow(ctx, OrderWorkflowID(orderID), "", RefreshName, nil)
	if IsNotRunning(err) {
		return false, nil
	}
	return err == nil, err
}

// IsNotRunning reports whether a call failed because its workflow does not exist or has ended.
func IsNotRunning(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}
