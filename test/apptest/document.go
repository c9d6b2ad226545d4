package apptest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"despacho/api"
)

// Document is openapi.yaml, read once and made strict: what it does not mention, an answer may not
// have.
var Document = sync.OnceValues(func() (*openapi3.T, error) {
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	closed := map[*openapi3.Schema]bool{}
	for _, schema := range document.Components.Schemas {
		closeObjects(schema, closed)
	}
	for _, path := range document.Paths.Map() {
		for _, operation := range path.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, content := range response.Value.Content {
					closeObjects(content.Schema, closed)
				}
			}
		}
	}
	return document, nil
})

// closeObjects refuses members that an object's schema does not name. The published file leaves
// objects open, because clients must tolerate new members; the tests must not, or a member could be
// forgotten in it.
func closeObjects(ref *openapi3.SchemaRef, closed map[*openapi3.Schema]bool) {
	if ref == nil || closed[ref.Value] {
		return
	}
	schema := ref.Value
	closed[schema] = true
	mergeParts(schema)
	if len(schema.Properties) > 0 {
		no := false
		schema.AdditionalProperties.Has = &no
	}
	for _, property := range schema.Properties {
		closeObjects(property, closed)
	}
	closeObjects(schema.Items, closed)
}

// mergeParts makes one object of allOf: closed on their own, its parts would refuse each other's
// members.
func mergeParts(schema *openapi3.Schema) {
	if !slices.ContainsFunc(schema.AllOf, func(part *openapi3.SchemaRef) bool { return len(part.Value.Properties) > 0 }) {
		return
	}
	properties := openapi3.Schemas{}
	for _, part := range schema.AllOf {
		for name, property := range part.Value.Properties {
			properties[name] = property
		}
		schema.Required = append(schema.Required, part.Value.Required...)
	}
	schema.Type, schema.Properties, schema.AllOf = &openapi3.Types{openapi3.TypeObject}, properties, nil
}

var documentRouter = sync.OnceValues(func() (routers.Router, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	// What the standard library does not decode is read as text or bytes.
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/css", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/javascript", openapi3filter.PlainBodyDecoder)
	for _, image := range []string{"image/jpeg", "image/png", "image/webp"} {
		openapi3filter.RegisterBodyDecoder(image, openapi3filter.FileBodyDecoder)
	}
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562))
	return gorillamux.NewRouter(document)
})

// conforms validates a response against openapi.yaml. Paths and methods that the document does not
// have are not checked.
func conforms(request *http.Request, answer *Answer) error {
	router, err := documentRouter()
	if err != nil {
		return err
	}
	route, parameters, err := router.FindRoute(request)
	if errors.Is(err, routers.ErrPathNotFound) || errors.Is(err, routers.ErrMethodNotAllowed) {
		return nil
	}
	if err != nil {
		return err
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true}
	options.WithCustomSchemaErrorFunc(func(wrong *openapi3.SchemaError) string {
		return "at /" + strings.Join(wrong.JSONPointer(), "/") + ": " + wrong.Reason
	})
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route},
		Status:                 answer.Status, Header: answer.Header, Options: options,
	}
	input.SetBodyBytes([]byte(answer.Text))
	err = openapi3filter.ValidateResponse(context.Background(), input)
	if err == nil {
		err = undocumentedHeader(route.Operation, answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s is not as openapi.yaml says: %w\nanswer: %d %s", request.Method, route.Path, err, answer.Status,
			answer.Text)
	}
	return nil
}

// transportHeaders belong to HTTP itself, or come with every answer and only say that it is of the
// type it says; they need no word in the document. Neither does Cache-Control: no-store, which is
// the rule that the document's introduction states.
var transportHeaders = []string{"Connection", "Content-Length", "Content-Type", "Date", "X-Content-Type-Options"}

func undocumentedHeader(operation *openapi3.Operation, answer *Answer) error {
	response := operation.Responses.Status(answer.Status)
	if response == nil {
		return fmt.Errorf("status %d is not documented", answer.Status)
	}
	for name := range answer.Header {
		documented := slices.Contains(transportHeaders, name) || name == "Cache-Control" && answer.Header.Get(name) == "no-store"
		for known := range response.Value.Headers {
			documented = documented || strings.EqualFold(known, name)
		}
		if !documented {
			return fmt.Errorf("header %s is not documented for status %d", name, answer.Status)
		}
	}
	return nil
}
