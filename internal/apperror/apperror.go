// Package apperror is the service's error type: a message for the caller, and a cause that only the
// log shows.
package apperror

import (
	"errors"
	"time"
)

// Kind is the category of an error; package api maps it to an HTTP status.
type Kind int

// The kinds of errors.
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

// Field is one invalid field of a request.
type Field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is an error as the caller sees it: Message in Spanish, Code stable and in snake_case.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	Fields     []Field
	RetryAfter time.Duration

	cause error
	// of is the error that this one is a copy of; nil if it is none.
	of *Error
}

// New returns an error of a kind.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Limited returns the error of somebody who is over a limit for some time.
func Limited(code, message string, wait time.Duration) *Error {
	return &Error{Kind: TooMany, Code: code, Message: message, RetryAfter: wait}
}

// Wrap returns an internal error with a general message; the cause is only logged.
func Wrap(cause error) *Error {
	return &Error{
		Kind:    Internal,
		Code:    "internal_error",
		Message: "Ocurrió un error inesperado. Vuelva a intentarlo en unos segundos.",
		cause:   cause,
	}
}

// Copy returns a copy to be changed, which is the same error for errors.Is.
func (e *Error) Copy() *Error {
	copied := *e
	copied.of = e.original()
	return &copied
}

// Because returns a copy with a cause, which is only logged.
func (e *Error) Because(cause error) *Error {
	copied := e.Copy()
	copied.cause = cause
	return copied
}

// Saying returns a copy with another message.
func (e *Error) Saying(message string) *Error {
	copied := e.Copy()
	copied.Message = message
	return copied
}

func (e *Error) original() *Error {
	if e.of != nil {
		return e.of
	}
	return e
}

// Error is the text for logs: the code with the cause, or with the message if there is none.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is the same error or a copy of it. Different errors may have one code.
func (e *Error) Is(target error) bool {
	known, ok := target.(*Error)
	return ok && known.original() == e.original()
}

// From returns err as an *Error; any other error becomes Internal.
func From(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return Wrap(err)
}
