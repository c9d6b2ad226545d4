package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"gorm.io/gorm"
)

// TraceGORM makes a span of every SQL statement that runs inside a trace, with its text and without
// its values. Statements outside a trace, such as a poller's, make none. With tracing off it does
// nothing.
func TraceGORM(db *gorm.DB) error {
	if !Enabled() {
		return nil
	}
	return db.Use(&statementTracing{tracer: otel.Tracer("despacho/internal/telemetry")})
}

// statementTracing is our own plugin because GORM's official one links the drivers of two more
// databases and puts error texts, which may contain values, into the spans.
type statementTracing struct{ tracer trace.Tracer }

// Name identifies the plugin to GORM.
func (*statementTracing) Name() string { return "despacho:statement_tracing" }

// Initialize registers callbacks around each of GORM's operations.
func (s *statementTracing) Initialize(db *gorm.DB) error {
	type registrar interface {
		Register(name string, fn func(*gorm.DB)) error
	}
	on := db.Callback()
	statements := []struct {
		kind          string
		before, after registrar
	}{
		{"create", on.Create().Before("gorm:create"), on.Create().After("gorm:create")},
		{"query", on.Query().Before("gorm:query"), on.Query().After("gorm:query")},
		{"update", on.Update().Before("gorm:update"), on.Update().After("gorm:update")},
		{"delete", on.Delete().Before("gorm:delete"), on.Delete().After("gorm:delete")},
		{"row", on.Row().Before("gorm:row"), on.Row().After("gorm:row")},
		{"raw", on.Raw().Before("gorm:raw"), on.Raw().After("gorm:raw")},
	}
	for _, statement := range statements {
		err := errors.Join(
			statement.before.Register(s.Name()+":before_"+statement.kind, s.start),
			statement.after.Register(s.Name()+":after_"+statement.kind, s.finish),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// statementSpan is stored in the statement's context from its start to its end.
type statementSpan struct {
	trace.Span
	caller context.Context
}

type statementSpanKey struct{}

func (s *statementTracing) start(db *gorm.DB) {
	caller := db.Statement.Context
	if !trace.SpanContextFromContext(caller).IsValid() {
		return
	}
	ctx, span := s.tracer.Start(caller, "statement", trace.WithSpanKind(trace.SpanKindClient))
	db.Statement.Context = context.WithValue(ctx, statementSpanKey{}, statementSpan{span, caller})
}

func (s *statementTracing) finish(db *gorm.DB) {
	span, started := db.Statement.Context.Value(statementSpanKey{}).(statementSpan)
	if !started {
		return
	}
	defer span.End()
	db.Statement.Context = span.caller
	if !span.IsRecording() {
		return
	}
	text, table := db.Statement.SQL.String(), db.Statement.Table
	operation := firstWord(text)
	span.SetName(strings.TrimSpace(operation + " " + table))
	span.SetAttributes(systemName(db), semconv.DBQueryText(text), semconv.DBOperationName(operation))
	if table != "" {
		span.SetAttributes(semconv.DBCollectionName(table))
	}
	if db.Error != nil && !errors.Is(db.Error, gorm.ErrRecordNotFound) {
		kind := errorKind(db.Error)
		span.SetAttributes(semconv.ErrorTypeKey.String(kind))
		span.SetStatus(codes.Error, kind)
	}
}

func firstWord(statement string) string {
	statement = strings.TrimSpace(statement)
	if end := strings.IndexFunc(statement, unicode.IsSpace); end >= 0 {
		statement = statement[:end]
	}
	return strings.ToUpper(statement)
}

func systemName(db *gorm.DB) attribute.KeyValue {
	if db.Name() == "postgres" {
		return semconv.DBSystemNamePostgreSQL
	}
	return semconv.DBSystemNameKey.String(db.Name())
}

// errorKind names an error without its text, which may contain the values that caused it.
func errorKind(err error) string {
	var postgres interface{ SQLState() string }
	var sqlite interface{ Code() int }
	switch {
	case errors.As(err, &postgres):
		return postgres.SQLState()
	case errors.As(err, &sqlite):
		return strconv.Itoa(sqlite.Code())
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline_exceeded"
	}
	return fmt.Sprintf("%T", err)
}
