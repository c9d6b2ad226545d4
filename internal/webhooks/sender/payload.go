package sender

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrData means that the data of an event is not a JSON object.
var ErrData = errors.New("webhook: data is not a JSON object")

// Envelope is the request body of contract 6.1.
type Envelope struct {
	Event     string `json:"event"`
	TenantID  string `json:"tenant_id"`
	Timestamp string `json:"timestamp"`
	// Test is there only in the events of test orders.
	Test bool            `json:"test,omitempty"`
	Data json.RawMessage `json:"data"`
}

// Body wraps the stored data of an event, byte for byte, in an envelope with the current timestamp.
func Body(request Request, at time.Time) ([]byte, error) {
	data := request.Data
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) || !json.Valid(data) {
		return nil, ErrData
	}
	envelope := Envelope{Event: request.Event, TenantID: request.TenantID, Timestamp: unixSeconds(at), Test: request.Test,
		Data: json.RawMessage("{}")}
	wrapped, err := json.Marshal(envelope)
	if err != nil {
		return nil, fmt.Errorf("webhook: build body: %w", err)
	}
	// Marshalling the data would compact it and escape its characters.
	opening := bytes.TrimSuffix(wrapped, []byte("{}}"))
	return slices.Concat(opening, data, []byte("}")), nil
}
