// Package redact keeps the values that errors quote out of the logs: they may be personal data.
package redact

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Error is an error's text without the values in it. Go's packages, the database drivers and
// PostgreSQL write values in quotes: everything from the first quote to the last one is left out.
// PostgreSQL's own names of what was violated, which it quotes too, are added at the end.
func Error(err error) string {
	text := withConnectionReason(err.Error())
	first, last := strings.IndexAny(text, quotes), strings.LastIndexAny(text, quotes)
	if first < 0 {
		return text
	}
	if last == first {
		last = len(text) - 1 // a quote that is not closed
	}
	text = text[:first] + omitted + text[last+1:]
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return text
	}
	names := slices.DeleteFunc([]string{pg.TableName, pg.ColumnName, pg.ConstraintName},
		func(name string) bool { return name == "" })
	return strings.Join(append([]string{text, "SQLSTATE " + pg.Code}, names...), " ")
}

// withConnectionReason takes the quotes from the reason for which gRPC has no connection to
// Temporal: it is the dialer's or TLS's and has no value of anybody, and without it the log does
// not say what to repair.
func withConnectionReason(text string) string {
	before, after, found := strings.Cut(text, noConnection)
	quoted, err := strconv.QuotedPrefix(after)
	if !found || err != nil {
		return text
	}
	reason, err := strconv.Unquote(quoted)
	if err != nil {
		return text
	}
	return before + noConnection + reason + after[len(quoted):]
}

const (
	noConnection = "connection error: desc = "

	quotes  = "\"`"
	omitted = `[…]`
)

// Handler logs attributes that are errors by their redacted text.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, record slog.Record) error {
	redacted := slog.NewRecord(record.Time, record.Level, record.Message, record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		redacted.AddAttrs(attribute(attr))
		return true
	})
	return h.Handler.Handle(ctx, redacted)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	redacted := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		redacted[i] = attribute(attr)
	}
	return handler{h.Handler.WithAttrs(redacted)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }

func attribute(attr slog.Attr) slog.Attr {
	value := attr.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		group := make([]slog.Attr, len(value.Group()))
		for i, inner := range value.Group() {
			group[i] = attribute(inner)
		}
		return slog.Attr{Key: attr.Key, Value: slog.GroupValue(group...)}
	}
	if err, isError := value.Any().(error); isError && err != nil {
		return slog.String(attr.Key, Error(err))
	}
	return attr
}
