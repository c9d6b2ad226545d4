package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"despacho/models"
)

// Refusal is a refused move and the order's current status.
type Refusal struct {
	Move   models.Move   `json:"move"`
	Status models.Status `json:"status"`
	Reason string        `json:"reason,omitempty"`
	// Expired means that the move's deadline passed before it could be stored.
	Expired bool `json:"expired,omitempty"`
}

// Err is the non-retryable error of the refusal.
func (r Refusal) Err() error {
	message := fmt.Sprintf("%s is not possible while the order is %s", r.Move, r.Status)
	switch {
	case r.Expired:
		message = fmt.Sprintf("the deadline of %s passed", r.Move)
	case r.Reason != "":
		message = r.Reason
	}
	return temporal.NewNonRetryableApplicationError(message, refusedErrorType, nil, r)
}

// AsRefusal extracts the refusal from an update's error.
func AsRefusal(err error) (Refusal, bool) {
	var application *temporal.ApplicationError
	if !errors.As(err, &application) || application.Type() != refusedErrorType {
		return Refusal{}, false
	}
	var refusal Refusal
	if application.HasDetails() {
		if err := application.Details(&refusal); err != nil {
			return Refusal{}, true
		}
	}
	return refusal, true
}
