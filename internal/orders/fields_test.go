package orders

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/photourl"
	"despacho/internal/signing"
	"despacho/models"
	"despacho/test/fields"
)

// notInRequest are the fields of an order that a creation request does not set, with what does.
var notInRequest = map[string]string{
	"ID": "newOrderView", "OperatorID": "the caller's", "Test": "the caller's", "GuideCode": "newOrderView", "Status": "registered, then the moves", "Seq": "1, then the moves",
	"BranchID": "newOrder.branchID or the main branch", "Size": "newOrder.size or the default size", "ShippingCost": "the tariff", "Currency": "the operator's",
	"RecipientDocVerified": "the lookup", "DocOutcome": "the lookup", "DocNameMatches": "the lookup", "PointSource": "resolvePoint", "SearchText": "searchText",
	"RiskZone": "the operator's risk zones", "OperativeDay": "the creation or reception", "AutoCancelAt": "newOrderView", "CreatedAt": "newOrderView", "UpdatedAt": "newOrderView",
	"WorkflowStartedAt": "the start of the workflow", "RiderID": "a move", "ActualAmountCollected": "a move", "ReceivedAt": "a move", "AssignedAt": "a move",
	"DeliveredAt": "a move", "CancelledAt": "a move", "CancelledBy": "a move", "CancelReason": "a move", "CancelNote": "a move",
	"Substatus": "a move", "Attempts": "a move", "NextAttemptOn": "a move", "DecisionDeadline": "a move", "Collections": "a move", "ReceivedBy": "a move", "ReturnFee": "a move", "LoadedAt": "the rider",
	"ProofPhoto": "a move", "ProofCapturedAt": "a move", "ProofLat": "a move", "ProofLng": "a move", "ErasedAt": "an erasure", "RecipientDocEncrypted": "newOrderView",
}

// notInView are the fields of an order that View does not have under their name, with the reason.
var notInView = map[string]string{
	"OperatorID": "the caller's own", "Seq": "internal", "SearchText": "internal", "AutoCancelAt": "internal", "WorkflowStartedAt": "internal", "UpdatedAt": "internal", "ErasedAt": "internal",
	"RecipientDocEncrypted": "as RecipientDocNumber",
	"DocOutcome":            "in OrderPage, for the operator", "DocNameMatches": "in OrderPage, for the operator", "PointSource": "in OrderPage",
	"ReturnFee": "in settlements", "Attempts": "in FailedAttempts", "ProofPhoto": "in DeliveryProof", "ProofCapturedAt": "in DeliveryProof", "ProofLat": "in DeliveryProof", "ProofLng": "in DeliveryProof",
	"CancelledBy": "in Cancellation", "CancelReason": "in Cancellation", "CancelNote": "in Cancellation",
}

// notInEvent are the fields of View that the events of webhooks do not have, with the reason.
var notInEvent = map[string]string{
	"RecipientDocType": "private", "RecipientDocNumber": "private", "RecipientDocVerified": "private", "Notes": "private",
	"DeliveryLat": "private", "DeliveryLng": "private", "DeliveryMapsURL": "private", "LocationID": "in Location",
	"DeliveryType": "not in contract 6.1", "Currency": "not in contract 6.1", "AssignedAt": "not in contract 6.1",
	"Cancellation": "not in contract 6.1", "CancelledAt": "not in contract 6.1", "Version": "for the panel", "RiskZone": "for the panel", "LoadedAt": "for the panel", "RiderID": "for the panel", "Test": "beside data, in the envelope",
}

func TestOrderFields_areReadFromTheRequest(t *testing.T) {
	t.Parallel()
	request := []byte(`{"recipient_name":"Rosa","recipient_phone":"987654321","delivery_address":"Av. Larco 345","location_id":"` + uuid.NewString() + `",
		"product":"Zapatillas","delivery_reference":"Frente al parque","delivery_lat":-12.1,"delivery_lng":-77.03,"delivery_maps_url":"https://maps.app.goo.gl/abc",
		"amount_to_collect":89.9,"payment_type":"cash_on_delivery","recipient_doc_type":"ce","recipient_doc_number":"1","delivery_type":"agency","size":"L",
		"notes":"Llamar","external_id":"PED-1","store_id":"` + openStore.String() + `","branch_id":"` + ownBranch.String() + `"}`)
	var members map[string]any
	require.NoError(t, json.Unmarshal(request, &members))
	document, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	require.NoError(t, err)
	documented := document.Components.Schemas["OrderInput"].Value.Properties
	require.ElementsMatch(t, slices.Collect(maps.Keys(documented)), slices.Collect(maps.Keys(members)), "the request has every member of OrderInput in api/openapi.yaml")

	in, err := jsonbody.Parse(request)
	require.NoError(t, err)
	order, err := readNewOrder(in, peruvianCaller(nil), knownSettings())
	require.NoError(t, err)
	for name, value := range fields.Of(order.Order) {
		if _, listed := notInRequest[name]; listed {
			assert.Zero(t, value, "%s is read from the request: remove it from notInRequest", name)
			continue
		}
		assert.NotZero(t, value, "models.Order.%s is not read from the request: read it in orders/input.go, or add it to notInRequest with what sets it", name)
	}
}

func TestOrderFields_areShown(t *testing.T) {
	t.Parallel()
	var order models.OrderView
	(&fields.Filler{Bool: true}).Fill(&order)
	order.RecipientDocEncrypted = nil
	keys, err := signing.New("una clave de prueba de 32 letras")
	require.NoError(t, err)
	service := &Service{clock: clock.System(), options: Options{PhotoURLs: photourl.New("https://despacho.example/files", time.Hour, keys)}}
	view := service.view(&order, true)
	requireShown(t, order.Order, *view, notInView, "the API and the panel (orders/view.go)")
	view.DeliveryProof = service.eventProof(&order.Order, true) // addresses are signed when the event is sent
	view.Public = service.eventData(&order, true).Public
	requireShown(t, *view, service.eventData(&order, true), notInEvent, "webhook events (orders/view.go)")
}

// requireShown demands that shown has every field of the source with the same name and value,
// except those listed with a reason.
func requireShown(t *testing.T, source, shown any, leftOut map[string]string, where string) {
	t.Helper()
	from, to := reflect.ValueOf(source), reflect.ValueOf(shown)
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		field, listed := to.FieldByName(name), leftOut[name] != ""
		if listed {
			assert.False(t, field.IsValid(), "%s is shown by %s: remove it from the list", name, where)
			continue
		}
		if assert.True(t, field.IsValid(), "%T.%s is not shown by %s: add it, or list it with the reason", source, name, where) {
			assert.Equal(t, from.Field(i).Interface(), field.Interface(), "%s is shown by %s with another value", name, where)
		}
	}
	for name := range leftOut {
		assert.True(t, from.FieldByName(name).IsValid(), "%s is no field of %T", name, source)
	}
}
