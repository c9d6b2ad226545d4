package api_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// deliveryCorrection is a form with a reason and, if it has a size, a photo.
func deliveryCorrection(t *testing.T, orderID, token string, values map[string]string, size int) apptest.Request {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range values {
		require.NoError(t, writer.WriteField(name, value))
	}
	if size > 0 {
		part, err := writer.CreateFormFile("photo", "otra.png")
		require.NoError(t, err)
		require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, size, size))))
	}
	require.NoError(t, writer.Close())
	return apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/delivery-correction", Token: token,
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()},
	}
}

// deliveredRow is a delivered order for which 40 were collected.
func deliveredRow(t *testing.T, tenant *apptest.Tenant) string {
	t.Helper()
	return insertedRow(t, tenant, apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour), func(o *models.Order) {
		collected := o.AmountToCollect + 4000
		o.AmountToCollect, o.ActualAmountCollected, o.PaymentType = 4500, &collected, models.CashOnDelivery
	})
}

// The operator corrects what was recorded at a delivery. The first amount is in the audit log.
func TestCorrectDelivery_amount(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := deliveredRow(t, tenant)
		path := "/orders/" + id + "/delivery-correction"
		requireWrongFields(t, d.post(path, fields{}), "reason", "actual_amount_collected")
		requireWrongFields(t, d.post(path, fields{"reason": "Mal escrito", "actual_amount_collected": -1}), "actual_amount_collected")
		require.Equal(t, http.StatusForbidden, desk{t, s, tenant.SignIn(t, &tenant.StoreA)}.post(path, fields{"reason": "x", "actual_amount_collected": 1}).Status)
		open := insertedRow(t, tenant)
		requireRefused(t, d.post("/orders/"+open+"/delivery-correction", fields{"reason": "x", "actual_amount_collected": 1}), http.StatusConflict, "correction_not_allowed")

		corrected := d.post(path, fields{"reason": "El motorizado escribió mal", "actual_amount_collected": 45})
		require.Equal(t, http.StatusOK, corrected.Status, corrected.Text)
		require.EqualValues(t, 45, corrected.Data["actual_amount_collected"])
		require.EqualValues(t, 45, get(t, s, tenant.KeyA, "/v1/orders/"+id).Data["actual_amount_collected"])
		require.Equal(t, http.StatusOK, d.post(path, fields{"reason": "Otra vez", "actual_amount_collected": 45}).Status, "nothing changes")

		entries := d.auditLog("action=order.delivery_corrected")
		require.Len(t, entries, 1)
		require.Equal(t, "actual_amount_collected: 40.00 -> 45.00", entries[0]["detail"])
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		last := timeline[len(timeline)-1]
		require.Equal(t, "delivery_corrected", last["type"])
		require.Equal(t, "El motorizado escribió mal", last["detail"])
		require.Equal(t, []any{map[string]any{"field": "actual_amount_collected", "old": "40.00", "new": "45.00"}}, last["changes"])
	})
}

// The photo that a correction replaces is kept with the order, and goes when its data is erased.
func TestCorrectDelivery_photo(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		id := deliveredRow(t, tenant)
		photoOf := func(answer *apptest.Answer) string {
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			return answer.Data["delivery_proof"].(map[string]any)["photo_url"].(string)
		}
		first := photoOf(s.Do(t, deliveryCorrection(t, id, d.token, map[string]string{"reason": "Faltaba la foto"}, 8)))
		second := photoOf(s.Do(t, deliveryCorrection(t, id, d.token, map[string]string{"reason": "Era de otro pedido", "actual_amount_collected": "41.50"}, 9)))
		require.NotEqual(t, first, second)
		timeline := objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		changes := objects(t, timeline[len(timeline)-1]["changes"].([]any))
		require.Equal(t, []any{"actual_amount_collected", "delivery_proof"}, column(changes, "field"))
		kept := changes[1]["old"].(string)
		response, err := apptest.Client.Get(kept)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode, "the first photo can still be seen")

		files, err := os.ReadDir(s.Config.FilesDir)
		require.NoError(t, err)
		require.Len(t, files, 4, "two photos with their thumbnails")
		var names []string
		for _, file := range files {
			names = append(names, file.Name())
		}
		referenced, erased, err := s.App.Orders.KnownPhotos(t.Context(), names)
		require.NoError(t, err)
		require.Len(t, referenced, 2, "the sweeper leaves both alone")
		require.Empty(t, erased)

		require.Equal(t, http.StatusOK, d.post("/orders/"+id+"/erase", nil).Status)
		files, err = os.ReadDir(s.Config.FilesDir)
		require.NoError(t, err)
		require.Empty(t, files)
		refused := s.Do(t, deliveryCorrection(t, id, d.token, map[string]string{"reason": "Otra foto"}, 8))
		requireRefused(t, refused, http.StatusConflict, "correction_not_allowed")

		corrected := d.post("/orders/"+id+"/delivery-correction", fields{"reason": "Melchora pagó 42", "actual_amount_collected": 42})
		require.Equal(t, http.StatusOK, corrected.Status, corrected.Text)
		require.EqualValues(t, 42, corrected.Data["actual_amount_collected"], "the cash has to agree")
		requireNotStored(t, s, "Melchora")
		timeline = objects(t, d.send(http.MethodGet, "/orders/"+id, nil).Data["timeline"].([]any))
		last := timeline[len(timeline)-1]
		require.Equal(t, []any{"delivery_corrected", nil}, []any{last["type"], last["detail"]})
		require.Equal(t, []any{map[string]any{"field": "actual_amount_collected", "old": "41.50", "new": "42.00"}}, last["changes"])
	})
}
