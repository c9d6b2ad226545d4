package sender_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
)

func TestBodyKeepsTheDataByteForByte(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{}`,
		`{"amount_to_collect":120.50,"b":1,"a":2}`,
		"{ \"recipient_name\" :\n\t\"<Ñusta> & Co \\u00f1\" }",
		"{\"product\":\"\u2028\"}",
		`{"n":1e400,"m":12345678901234567890.10}`,
	} {
		body, err := sender.Body(sender.Request{Event: "order.created", TenantID: tenantID, Data: json.RawMessage(data)}, signedAt)
		require.NoError(t, err)

		require.Equal(t, `{"event":"order.created","tenant_id":"`+tenantID+`","timestamp":"1767225600","data":`+data+`}`, string(body))
		var envelope sender.Envelope
		require.NoError(t, json.Unmarshal(body, &envelope))
		require.Equal(t, sender.Envelope{
			Event: "order.created", TenantID: tenantID, Timestamp: "1767225600", Data: json.RawMessage(data),
		}, envelope)
	}
}

// Only the event of a test order says that it is one.
func TestBodyMarksTestOrders(t *testing.T) {
	t.Parallel()
	body, err := sender.Body(sender.Request{Event: "order.created", TenantID: tenantID, Test: true, Data: json.RawMessage("{}")}, signedAt)
	require.NoError(t, err)
	require.Equal(t, `{"event":"order.created","tenant_id":"`+tenantID+`","timestamp":"1767225600","test":true,"data":{}}`, string(body))
}

func TestBodyRefusesDataThatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "null", "[]", `"{}"`, "{", "{}{}", "{},", `{"a":}`} {
		_, err := sender.Body(sender.Request{Event: "order.created", TenantID: tenantID, Data: json.RawMessage(data)}, signedAt)
		require.ErrorIs(t, err, sender.ErrData, "%q", data)
	}
}
