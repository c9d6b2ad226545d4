package workflows

import (
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// dbCall is one access to the database: a local activity, which adds one event to the history,
// retried until the database is available.
type dbCall struct {
	summary, activity string
	// deadline ends the retries; nil means that they do not end.
	deadline *time.Time
}

const (
	// During an outage the database is tried every retryInterval, so that callers are answered soon
	// after the outage ends. After shortOutage it is tried every longOutageInterval, because every
	// heartbeat of the waiting workflow task adds to the history.
	retryInterval      = 1500 * time.Millisecond
	shortOutage        = 5 * time.Minute
	longOutageInterval = 30 * time.Second
	// retryForever is set because without a ScheduleToCloseTimeout the SDK stops retrying a local
	// activity once StartToCloseTimeout has passed.
	retryForever = 100 * 365 * 24 * time.Hour
)

// runDBActivity runs the activity. Errors other than an outage of the database are not retried. The
// error after the deadline is an outage.
func runDBActivity(ctx workflow.Context, call dbCall, input, result any) error {
	limit := shortOutage
	if call.deadline != nil {
		if limit = call.deadline.Sub(workflow.Now(ctx)); limit <= 0 {
			return temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil)
		}
	}
	err := call.run(ctx, limit, retryInterval, input, result)
	if call.deadline == nil && isOutage(err) {
		return call.run(ctx, retryForever, longOutageInterval, input, result)
	}
	return err
}

// isOutage reports whether an activity's retries ended without the database being available: the
// error is a timeout, or the last attempt's and retryable.
func isOutage(err error) bool {
	return err != nil && !hasType(err, orderMissingErrorType) && !hasType(err, notStoredErrorType)
}

func hasType(err error, errorType string) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.Type() == errorType
}

func (c dbCall) run(ctx workflow.Context, limit, maxInterval time.Duration, input, result any) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    10 * time.Second,
		ScheduleToCloseTimeout: limit,
		Summary:                c.summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: maxInterval,
		},
	})
	return workflow.ExecuteLocalActivity(ctx, c.activity, input).Get(ctx, result)
}

// OrderMissing is the non-retryable error of an activity whose order does not exist.
func OrderMissing() error {
	return temporal.NewNonRetryableApplicationError("the order does not exist", orderMissingErrorType, nil)
}

// NotStored is the non-retryable error of an activity that failed for another reason than an
// outage. The cause is logged, not returned: it may hold personal data.
func NotStored() error {
	return temporal.NewNonRetryableApplicationError("the database does not accept it", notStoredErrorType, nil)
}
