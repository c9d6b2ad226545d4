package despacho

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// APIError is an answer other than 2xx. Decide on Code, and on Status where the code is unknown or
// empty, as in an answer of a proxy.
type APIError struct {
	Status int
	Code   string
	// Message is Spanish text to show to a person.
	Message string
	// Fields names what is wrong in what was sent, all of it at once.
	Fields []FieldError
	// RequestID is what to quote when asking about the request.
	RequestID string
	// RetryAfter is how long the service asked to wait; 0 if it did not.
	RetryAfter time.Duration
}

// Error describes the answer.
func (e *APIError) Error() string {
	return fmt.Sprintf("despacho: %d %s: %s (request %s)", e.Status, e.Code, e.Message, e.RequestID)
}

// NoAnswerError says that no answer of the service came: whether the request was carried out is
// not known.
type NoAnswerError struct{ Err error }

// Error says why there was no answer.
func (e *NoAnswerError) Error() string { return "despacho: no answer: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *NoAnswerError) Unwrap() error { return e.Err }

func newAPIError(response *http.Response, answer []byte) *APIError {
	refused := &APIError{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id")}
	refused.RetryAfter = parseRetryAfter(response.Header.Get("Retry-After"))
	var body Error
	if json.Unmarshal(answer, &body) == nil {
		refused.Code, refused.Message = body.Code, body.Error
		if body.Fields != nil {
			refused.Fields = *body.Fields
		}
	}
	return refused
}

// parseRetryAfter reads Retry-After: seconds, as the service sends it, or a date, as a proxy may.
// What is neither asks for nothing.
func parseRetryAfter(asked string) time.Duration {
	seconds, err := strconv.ParseUint(asked, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(math.MaxInt64/time.Second))) * time.Second
	}
	date, err := http.ParseTime(asked)
	if err != nil {
		return 0
	}
	return max(time.Until(date), 0)
}
