package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

// Request is one HTTP request. Body is sent as JSON; Raw as it is.
type Request struct {
	Method string
	Path   string
	// Key is sent as X-API-Key, Token as a Bearer token, Phone as the cookie of a rider's phone.
	Key, Token, Phone string
	Body              any
	Raw               []byte
	Header            map[string]string
}

// Answer is a response taken apart.
type Answer struct {
	Status int
	Header http.Header
	Text   string
	// Data is `data` where it is an object; List where it is an array.
	Data    map[string]any
	List    []any
	Warning string
	Message string
	Error   string
	Code    string
	Fields  []string
}

// Client is shared, so that tests with many requests reuse connections. It ends an idle one long
// before the service would: a request that meets the service's end of its connection is lost. What
// it sends must not be logged.
var Client = &http.Client{Transport: recordingTransport{&http.Transport{MaxIdleConnsPerHost: 100,
	IdleConnTimeout: 30 * time.Second}}}

// recordingTransport adds the confidential values of every request to those that are looked for in
// the logs.
type recordingTransport struct{ http.RoundTripper }

// RoundTrip sends a request.
func (t recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	logs.addForm(request.URL.Query())
	logs.addSecret("idempotency key", request.Header.Get("Idempotency-Key"))
	for _, cookie := range request.Cookies() {
		logs.addSecret("token", cookie.Value)
	}
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		logs.addSecrets(content)
		if mediaType, parameters, err := mime.ParseMediaType(request.Header.Get("Content-Type")); err == nil {
			addForm(mediaType, parameters["boundary"], content)
		}
	}
	return t.RoundTripper.RoundTrip(request)
}

func addForm(mediaType, boundary string, content []byte) {
	switch mediaType {
	case "application/x-www-form-urlencoded":
		if values, err := url.ParseQuery(string(content)); err == nil {
			logs.addForm(values)
		}
	case "multipart/form-data":
		if form, err := multipart.NewReader(bytes.NewReader(content), boundary).ReadForm(int64(len(content)) + 1); err == nil {
			logs.addForm(form.Value)
			_ = form.RemoveAll()
		}
	}
}

// Do sends a request and reads the answer, which must be as openapi.yaml says.
func (s *Service) Do(t testing.TB, request Request) *Answer {
	t.Helper()
	answer, err := s.Try(request)
	require.NoError(t, err)
	return answer
}

// Try is Do for goroutines, which may not end the test.
func (s *Service) Try(request Request) (*Answer, error) {
	content := request.Raw
	if request.Body != nil {
		var err error
		if content, err = json.Marshal(request.Body); err != nil {
			return nil, err
		}
	}
	logs.addSecret("key", request.Key)
	logs.addSecret("token", request.Token)
	r, err := http.NewRequest(request.Method, s.BaseURL+request.Path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if len(content) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if request.Key != "" {
		r.Header.Set("X-API-Key", request.Key)
	}
	if request.Token != "" {
		r.Header.Set("Authorization", "Bearer "+request.Token)
	}
	if request.Phone != "" {
		r.AddCookie(&http.Cookie{Name: phoneCookie, Value: request.Phone})
	}
	for name, value := range request.Header {
		r.Header.Set(name, value)
	}
	response, err := Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	logs.addSecrets(text)
	answer := &Answer{Status: response.StatusCode, Header: response.Header, Text: string(text)}
	if err := conforms(response.Request, answer); err != nil {
		return nil, err
	}
	return answer, answer.read(text)
}

func (a *Answer) read(text []byte) error {
	if len(text) == 0 || a.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		return nil
	}
	var envelope struct {
		Data    json.RawMessage `json:"data"`
		Warning string          `json:"warning"`
		Message string          `json:"message"`
		Error   string          `json:"error"`
		Code    string          `json:"code"`
		Fields  []struct {
			Field string `json:"field"`
		} `json:"fields"`
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return err
	}
	a.Warning, a.Message, a.Error, a.Code = envelope.Warning, envelope.Message, envelope.Error, envelope.Code
	for _, field := range envelope.Fields {
		a.Fields = append(a.Fields, field.Field)
	}
	if len(envelope.Data) > 0 && envelope.Data[0] == '[' {
		return json.Unmarshal(envelope.Data, &a.List)
	}
	if len(envelope.Data) > 0 {
		return json.Unmarshal(envelope.Data, &a.Data)
	}
	return nil
}

// String reads a text member of an answer's data.
func (a *Answer) String(member string) string {
	text, _ := a.Data[member].(string)
	return text
}

// WaitForWorkflow returns when the order's workflow was started: a creation is answered before.
func (s *Service) WaitForWorkflow(t testing.TB, orderID string) {
	t.Helper()
	poll.Until(t, func() error {
		_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), "order-"+orderID, "")
		return err
	})
}

// CancelWithoutWorker cancels an order in the database and ends its workflow, which no worker runs.
func (s *Service) CancelWithoutWorker(t testing.TB, orderID string) {
	t.Helper()
	s.WaitForWorkflow(t, orderID)
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), "order-"+orderID, "", "cancelled without a worker"))
	_, err := s.App.DB.SQL().ExecContext(t.Context(),
		"UPDATE orders SET status = 'cancelled', cancelled_by = 'operator', cancelled_at = created_at WHERE id = '"+orderID+"'")
	require.NoError(t, err)
}

// CreateOrder creates an order and returns its id.
func (s *Service) CreateOrder(t testing.TB, key string, changes ...map[string]any) string {
	t.Helper()
	answer := s.Do(t, Request{Method: "POST", Path: "/v1/orders", Key: key, Body: Order(changes...)})
	require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
	return answer.String("id")
}
