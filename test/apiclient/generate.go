// Package apiclient is a client generated from api/openapi.yaml, as a programmer of a store's
// system would generate one. Its tests show that such a client works against the real service.
package apiclient

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1 -config config.yaml -o client.gen.go ../../api/openapi.yaml
