package worker

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"

	"despacho/internal/temporalcheck"
	"despacho/workflows"
)

// prepareNamespace checks that Temporal is reachable and has the namespace, and creates the search
// attributes. Every worker does it at start-up; it is idempotent.
func prepareNamespace(ctx context.Context, options Options) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := temporalcheck.Namespace(ctx, options.Temporal, options.Namespace); err != nil {
		return err
	}
	err := registerSearchAttributes(ctx, options)
	var notReady *serviceerror.NamespaceNotFound
	if errors.As(err, &notReady) {
		return err // the namespace is new; the server reads its list every few seconds
	}
	if err != nil {
		// On Temporal Cloud and restricted clusters an administrator has to add them; with SQL
		// visibility a namespace has room for ten keywords.
		options.Log.Warn("search attributes not registered; orders start without them, and are not found by them, until an administrator adds them",
			"attributes", workflows.SearchAttributes(), "error", err)
	}
	return nil
}

func registerSearchAttributes(ctx context.Context, options Options) error {
	namespace := options.Namespace
	present, err := options.Temporal.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for name := range workflows.SearchAttributes() {
		if _, known := present.GetCustomAttributes()[name]; !known {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = options.Temporal.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	var already *serviceerror.AlreadyExists
	if errors.As(err, &already) {
		return nil // another worker added them first
	}
	return err
}
