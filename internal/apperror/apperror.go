// Package fault is the service's one error type: what went wrong in words a caller can act on, kept
// apart from the cause, which only the log sees.
package apperror

import (
	"errors"
	"time"
)

// Kind says what sort of failure it is; the HTTP edge turns it into a status.
type Kind int

// The kinds of failure a caller is told about.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	MethodNotAllowed
	Conflict
	TooLarge
	UnsupportedMedia
	Unprocessable
	TooMany
	Unavailable
)

// Field is one wrong member of a request.
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is a failure as the caller is told it: Message in Spanish, Code stable and in snake_case.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	Fields     []Field
	RetryAfter time.Duration

	cause error
}

// New makes an error of a kind.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Wrap hides an internal cause behind a message that says nothing of it.
func Wrap(cause error) *Error {
	return &Error{
		Kind:    Internal,
		Code:    "internal_error",
		Message: "Ocurrió un error inesperado. Vuelva a intentarlo en unos segundos.",
		cause:   cause,
	}
}

// Because attaches the cause that only the log is shown.
func (e *Error) Because(cause error) *Error {
	copied := *e
	copied.cause = cause
	return &copied
}

// Error is the text for logs: the message and, where there is one, its cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an *Error with the same code, so that errors.Is also finds a declared
// error in a copy with another message or cause.
func (e *Error) Is(target error) bool {
	known, ok := target.(*Error)
	return ok && known.Code == e.Code
}

// From returns err as an *Error; anything unknown becomes Internal.
func From(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return Wrap(err)
}
