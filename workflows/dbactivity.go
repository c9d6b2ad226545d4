package workflows

import (
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// During an outage the database is tried every retryInterval; after shortOutage, because every
	// heartbeat of the waiting workflow task adds to the history, every longOutageInterval.
	retryInterval      = 1500 * time.Millisecond
	shortOutage        = 5 * time.Minute
	longOutageInterval = 30 * time.Second
	// retryForever is set because without a ScheduleToCloseTimeout the SDK stops retrying a local
	// activity once StartToCloseTimeout has passed.
	retryForever = 100 * 365 * 24 * time.Hour
)

// runDBActivity accesses the database with a local activity, which adds one event to the history.
// An outage of the database is retried until the deadline, after which the error is an outage, or
// without an end if there is no deadline; other errors are not retried.
func runDBActivity(ctx workflow.Context, summary, activity string, deadline *time.Time, input, result any) error {
	run := func(limit, maxInterval time.Duration) error {
		ctx := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			StartToCloseTimeout:    10 * time.Second,
			ScheduleToCloseTimeout: limit,
			Summary:                summary,
			RetryPolicy: &temporal.RetryPolicy{
				InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: maxInterval,
			},
		})
		return workflow.ExecuteLocalActivity(ctx, activity, input).Get(ctx, result)
	}
	if deadline != nil {
		limit := deadline.Sub(workflow.Now(ctx))
		if limit <= 0 {
			return temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil)
		}
		return run(limit, retryInterval)
	}
	err := run(shortOutage, retryInterval)
	if isOutage(err) {
		err = run(retryForever, longOutageInterval)
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

// OrderMissing is the non-retryable error of an activity whose order does not exist.
func OrderMissing() error {
	return temporal.NewNonRetryableApplicationError("the order does not exist", orderMissingErrorType, nil)
}

// NotStored is the non-retryable error of an activity that failed for another reason than an
// outage. The cause is logged, not returned: it may hold personal data.
func NotStored() error {
	return temporal.NewNonRetryableApplicationError("the database does not accept it", notStoredErrorType, nil)
}
