package panel_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/internal/encryption"
	"despacho/internal/orders"
	"despacho/internal/panel/neworder"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/fields"
)

// The form and the columns of an uploaded file have every member of a creation request.
func TestOrderFields_areInTheFormAndInAFile(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		document, err := apptest.Document()
		require.NoError(t, err)
		form := visit(t, s, s.NewTenant(t), nil).read(newOrder).fieldsOf(t, newOrder)
		delete(form, "ficha")
		var columns []string
		for _, column := range neworder.ColumnsFor(orders.Caller{}) {
			if column.Member != "" {
				columns = append(columns, column.Member)
			}
		}
		for where, members := range map[string][]string{"Groups": slices.Collect(maps.Keys(form)), "columns": columns} {
			for member := range document.Components.Schemas["OrderInput"].Value.Properties {
				assert.Contains(t, members, member, "%s is not in %s (internal/panel/neworder/fields.go)", member, where)
			}
			assert.Len(t, members, len(document.Components.Schemas["OrderInput"].Value.Properties), where)
		}
	})
}

// notOnPage are the fields of an order that its page does not show, with the reason.
var notOnPage = map[string]string{
	"ReturnFee":        "a charge of the store, in its settlement",
	"DecisionDeadline": "only while somebody has to decide",
	"ErasedAt":         "the erased fields say so", "RecipientDocEncrypted": "as RecipientDocNumber",
	"Test": "test orders have no page", "OperatorID": "the reader's own", "Seq": "internal", "SearchText": "internal", "AutoCancelAt": "internal", "WorkflowStartedAt": "internal", "UpdatedAt": "internal",
	"CreatedAt": "in the timeline", "ReceivedAt": "in the timeline", "AssignedAt": "in the timeline", "DeliveredAt": "in the timeline", "CancelledAt": "in the timeline",
}

// The order's page shows every field of an order. A text is shown as it is.
func TestOrderFields_areOnThePage(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		var order models.Order
		(&fields.Filler{Bool: true}).Fill(&order)
		by, document, source, outcome, link := models.ByStore, models.DocDNI, models.PointGiven, "found", "https://maps.example/enlace"
		order.OperatorID, order.StoreID, order.BranchID, order.RiderID, order.LocationID = tenant.Operator.ID, &tenant.StoreA.ID, tenant.Main.ID, &tenant.Riders[0].ID, apptest.Miraflores
		order.Status, order.CancelledBy, order.RecipientDocType, order.PointSource, order.DocOutcome = models.StatusCancelled, &by, &document, &source, &outcome
		order.DeliveryType, order.PaymentType, order.DeliveryMapsURL, order.OperativeDay, order.Currency = models.DeliveryAgency, models.CashOnDelivery, &link, "2026-03-04", "PEN"
		substatus, nextAttempt := models.SubstatusRetryPlanned, "2026-03-06"
		order.ErasedAt, order.Test, order.Substatus, order.NextAttemptOn = nil, false, &substatus, &nextAttempt
		secrets, err := encryption.New(s.Config.SecretKey)
		require.NoError(t, err)
		order.RecipientDocEncrypted = secrets.Seal([]byte(*order.RecipientDocNumber), orders.DocumentContext(order.ID))
		require.NoError(t, s.App.DB.Insert(t.Context(), &order))
		shownAs := map[string]string{
			"ID": order.ID.String(), "StoreID": tenant.StoreA.Name, "BranchID": tenant.Main.Name, "RiderID": tenant.Riders[0].Name, "LocationID": "Miraflores, Lima",
			"Status": "Cancelado", "RecipientDocType": "DNI " + *order.RecipientDocNumber, "RecipientDocVerified": "Verificado: el nombre coincide",
			"DocOutcome": "Verificado: el nombre coincide", "DocNameMatches": "Verificado: el nombre coincide", "DeliveryType": "En agencia", "PaymentType": "Contra entrega",
			"Substatus": "Se intentará otra vez", "NextAttemptOn": "se intenta el viernes 06/03", "Attempts": order.Attempts[0].Note,
			"Collections": *order.Collections[0].Reference, "LoadedAt": order.LoadedAt.In(tenant.Operator.TimeZone()).Format(time.RFC3339),
			"DeliveryLat": fmt.Sprint(*order.DeliveryLat), "DeliveryLng": fmt.Sprint(*order.DeliveryLng), "PointSource": "enviado por la tienda",
			"AmountToCollect": "S/ " + order.AmountToCollect.String(), "ActualAmountCollected": "S/ " + order.ActualAmountCollected.String(),
			"ShippingCost": "S/ " + order.ShippingCost.String(), "Currency": "S/", "OperativeDay": "04/03/2026", "ProofPhoto": "ProofPhoto",
			"ProofCapturedAt": order.ProofCapturedAt.In(tenant.Operator.TimeZone()).Format(time.RFC3339), "ProofLat": fmt.Sprint(*order.ProofLat), "ProofLng": fmt.Sprint(*order.ProofLng), "CancelledBy": "La tienda",
		}
		page := visit(t, s, tenant, nil).read("/panel/pedidos/" + order.ID.String())
		for name, value := range fields.Of(order) {
			if notOnPage[name] != "" {
				continue
			}
			want := shownAs[name]
			if want == "" {
				want, _ = value.(string)
			}
			assert.NotEmpty(t, want, "models.Order.%s: add to shownAs how the page shows it, or to notOnPage why it does not", name)
			assert.True(t, strings.Contains(page.words()+page.Text, want), "models.Order.%s (%s) is not on the order's page (internal/panel/templates/pages/order.html)", name, want)
		}
	})
}
