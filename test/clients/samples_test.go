package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/api/docs"
	"despacho/test/testenv"
)

var samplePattern = regexp.MustCompile(`(?s)<details class="sample" name="s-(\w+)"(?: open)?><summary>(\w+)</summary><pre tabindex="0">(.*?)</pre>`)

// samplesOf returns the samples that the pages show in a language, by operation.
func samplesOf(t *testing.T, language, baseURL string) map[string]string {
	t.Helper()
	files, err := docs.Render(api.OpenAPI(), baseURL)
	require.NoError(t, err)
	samples := map[string]string{}
	for _, file := range files {
		for _, match := range samplePattern.FindAllStringSubmatch(string(file.Content), -1) {
			if match[2] == language {
				samples[match[1]] = html.UnescapeString(match[3])
			}
		}
	}
	return samples
}

// recorder keeps the requests that it gets, and answers each.
type recorder struct {
	answer   string
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.bodies = append(r.requests, request), append(r.bodies, body)
	_, _ = io.WriteString(w, r.answer)
}

// sampleLanguages make one program of all samples, to be run in a directory.
var sampleLanguages = map[string]struct {
	file string
	// frame is the program around the samples; each has the format of one, with its operation.
	frame, each string
}{
	"curl":       {"samples.sh", "set -e\n%s", "%[2]s\n"},
	"Python":     {"samples.py", "%s", "%[2]s\n"},
	"TypeScript": {"samples.mjs", "%s", "{\n%[2]s\n}\n"},
	"PHP":        {"samples.php", "<?php\n%s", "%[2]s\n"},
	"Go": {"main.go", "package main\n\nimport (\n\t\"io\"\n\t\"net/http\"\n\t\"os\"\n\t\"strings\"\n)\n\nfunc main() {\n" +
		"\tfor _, send := range samples {\n\t\tif err := send(); err != nil {\n\t\t\tpanic(err)\n\t\t}\n\t}\n}\n\nvar samples = []func() error{\n%s}\n",
		"func() error { // %[1]s\n%[2]s\n},\n"},
}

// Every sample of every operation runs as it is shown, and sends the request that openapi.yaml
// describes.
func TestSamples(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	var operations []string
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			if body := operation.RequestBody; body == nil || body.Value.Content["application/json"] != nil { // no form with a file
				operations = append(operations, operation.OperationID)
			}
		}
	}
	slices.Sort(operations)
	for language := range sampleLanguages {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			got := &recorder{answer: "{}"}
			server := httptest.NewServer(got)
			t.Cleanup(server.Close)
			samples := samplesOf(t, language, server.URL)
			require.Equal(t, operations, slices.Sorted(maps.Keys(samples)))
			runSamples(t, language, operations, samples)
			require.Len(t, got.requests, len(operations))
			for i, operation := range operations {
				require.Equal(t, operation, requireRequest(t, document, got.requests[i], got.bodies[i]))
			}
		})
	}
}

// runSamples runs the samples one after the other.
func runSamples(t *testing.T, language string, operations []string, samples map[string]string) {
	t.Helper()
	l, directory := sampleLanguages[language], t.TempDir()
	var all strings.Builder
	for _, operation := range operations {
		fmt.Fprintf(&all, l.each, operation, samples[operation])
	}
	write(t, filepath.Join(directory, l.file), fmt.Sprintf(l.frame, all.String()))
	var run *exec.Cmd
	switch language {
	case "curl":
		testenv.Program(t, "curl")
		run = exec.Command("sh", l.file)
		run.Dir = directory
	case "Go":
		write(t, filepath.Join(directory, "go.mod"), "module samples\n\ngo 1.23\n")
		run = exec.Command(buildGo(t, directory))
	default:
		run = command(t, directory, l.file)
	}
	run.Env = append(os.Environ(), "DESPACHO_KEY=the-key", "DESPACHO_TOKEN=the-token", "DESPACHO_RIDER=the-rider")
	output, err := run.CombinedOutput()
	require.NoError(t, err, string(output))
}

// requireRoute holds a request to the route, parameters and body of its operation.
func requireRoute(t *testing.T, document *openapi3.T, request *http.Request, body []byte) *routers.Route {
	t.Helper()
	router, err := gorillamux.NewRouter(document)
	require.NoError(t, err)
	request.Body = io.NopCloser(bytes.NewReader(body))
	route, parameters, err := router.FindRoute(request)
	require.NoError(t, err, request.URL)
	require.NoError(t, openapi3filter.ValidateRequest(t.Context(), &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}), route.Operation.OperationID)
	return route
}

// requireRequest holds a request to its operation, which it returns: route, parameters, credential
// and body.
func requireRequest(t *testing.T, document *openapi3.T, request *http.Request, body []byte) (operation string) {
	t.Helper()
	route := requireRoute(t, document, request, body)
	operation = route.Operation.OperationID
	security := document.Security
	if route.Operation.Security != nil {
		security = *route.Operation.Security
	}
	credential := map[string]string{}
	if len(security) > 0 {
		for scheme := range security[0] {
			credential = map[string]map[string]string{"apiKey": {"X-API-Key": "the-key"}, "panelToken": {"Authorization": "Bearer the-token"}}[scheme]
		}
	}
	for _, name := range []string{"X-API-Key", "Authorization"} {
		require.Equal(t, credential[name], request.Header.Get(name), "%s %s", operation, name)
	}
	for _, parameter := range route.Operation.Parameters {
		if given, is := parameter.Value.Example.(string); is && parameter.Value.In == openapi3.ParameterInHeader {
			require.Equal(t, given, request.Header.Get(parameter.Value.Name), "%s %s", operation, parameter.Value.Name)
		}
	}
	if route.Operation.RequestBody == nil {
		require.Empty(t, body, operation)
		return operation
	}
	content := route.Operation.RequestBody.Value.Content["application/json"]
	if content == nil { // a form, which ValidateRequest has held to its schema
		given, _, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
		require.NoError(t, err, operation)
		require.Contains(t, route.Operation.RequestBody.Value.Content, given, operation)
		return operation
	}
	examples := []any{content.Example}
	for _, example := range content.Examples {
		examples = append(examples, example.Value.Value)
	}
	var sent any
	require.NoError(t, json.Unmarshal(body, &sent), "%s: %s", operation, body)
	require.True(t, slices.ContainsFunc(examples, func(example any) bool {
		return example != nil && difference(example, sent) == "" && difference(sent, example) == ""
	}), "%s sends %s", operation, body)
	return operation
}

// The requests of the Postman collection are those of openapi.yaml too.
func TestPostman(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	files, err := docs.Render(api.OpenAPI(), "https://despacho.example")
	require.NoError(t, err)
	type pair struct{ Key, Value string }
	var collection struct {
		Info     struct{ Name, Schema string }
		Variable []pair
		Item     []struct {
			Name string
			Item []struct {
				Name    string
				Request struct {
					Method string
					URL    struct {
						Raw      string
						Variable []pair
					}
					Auth struct {
						Type           string
						APIKey, Bearer []pair
					}
					Header []pair
					Body   *struct {
						Mode, Raw string
						FormData  []struct{ Key, Type string }
						Fields    []pair `json:"urlencoded"`
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(files["/docs/postman.json"].Content, &collection))
	require.Equal(t, "https://schema.getpostman.com/json/collection/v2.1.0/collection.json", collection.Info.Schema)
	require.Contains(t, collection.Variable, pair{"baseUrl", "https://despacho.example"})
	values := strings.NewReplacer("{{baseUrl}}", "https://despacho.example", "{{apiKey}}", "the-key", "{{panelToken}}", "the-token")
	seen := map[string]bool{}
	for _, folder := range collection.Item {
		for _, item := range folder.Item {
			address := item.Request.URL.Raw
			for _, variable := range item.Request.URL.Variable {
				address = strings.Replace(address, ":"+variable.Key, url.PathEscape(variable.Value), 1)
			}
			var body []byte
			if item.Request.Body != nil {
				body = []byte(item.Request.Body.Raw)
			}
			contentType := ""
			if item.Request.Body != nil && item.Request.Body.Mode == "urlencoded" {
				form := url.Values{}
				for _, field := range item.Request.Body.Fields {
					form.Set(field.Key, field.Value)
				}
				body, contentType = []byte(form.Encode()), "application/x-www-form-urlencoded"
			}
			if item.Request.Body != nil && item.Request.Body.Mode == "formdata" {
				var form bytes.Buffer
				writer := multipart.NewWriter(&form)
				for _, field := range item.Request.Body.FormData {
					require.Equal(t, "file", field.Type, item.Name)
					_, err := writer.CreateFormFile(field.Key, "logo.png")
					require.NoError(t, err)
				}
				require.NoError(t, writer.Close())
				body, contentType = form.Bytes(), writer.FormDataContentType()
			}
			request := httptest.NewRequest(item.Request.Method, values.Replace(address), bytes.NewReader(body))
			if contentType != "" {
				request.Header.Set("Content-Type", contentType)
			}
			for _, header := range item.Request.Header {
				request.Header.Set(header.Key, header.Value)
			}
			switch auth := item.Request.Auth; auth.Type {
			case "apikey":
				require.Equal(t, []pair{{"key", "X-API-Key"}, {"value", "{{apiKey}}"}, {"in", "header"}}, auth.APIKey)
				request.Header.Set("X-API-Key", "the-key")
			case "bearer":
				require.Equal(t, []pair{{"token", "{{panelToken}}"}}, auth.Bearer)
				request.Header.Set("Authorization", "Bearer the-token")
			default:
				require.Equal(t, "noauth", auth.Type, item.Name)
			}
			seen[requireRequest(t, document, request, body)] = true
		}
	}
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			require.True(t, seen[operation.OperationID], operation.OperationID)
		}
	}
}
