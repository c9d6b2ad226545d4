package panel_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
)

// An operator corrects an order on its page; both costs are shown before the change is confirmed.
func TestCorrection_showsBothCostsFirst(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{"notes": "Uno\nDos", "amount_to_collect": 20})
		path := "/panel/pedidos/" + id + "/corregir"
		v := visit(t, s, tenant, nil)
		require.Equal(t, path, v.read("/panel/pedidos/" + id).links()["Corregir datos"])
		form := v.read(path).fieldsOf(t, path)
		require.Equal(t, "+51987654321", form.Get("recipient_phone"))
		require.Equal(t, "Miraflores, Lima (150122)", form.Get("location_id"))
		require.Equal(t, "20.00", form.Get("amount_to_collect"))
		form.Set("notes", strings.ReplaceAll(form.Get("notes"), "\n", "\r\n")) // as browsers send it
		require.Contains(t, v.submit(path, form).words(), "No había nada que corregir.")

		form.Set("recipient_phone", "987 111 222")
		form.Set("amount_to_collect", "S/ 1,250.00")
		form.Set("size", "L")
		form.Set("delivery_reference", "Portón <b>verde</b>")
		asked := v.post(path, form)
		require.Equal(t, http.StatusUnprocessableEntity, asked.Status)
		require.Contains(t, plainSpaces.Replace(asked.words()), "La tarifa pasa de S/ 9.00 a S/ 14.50. Si es correcto, confirme otra vez.")
		require.Equal(t, "+51987654321", readOrder(t, s, tenant, id).String("recipient_phone"), "nothing has happened yet")

		confirmed := asked.fieldsOf(t, path)
		require.Equal(t, "987 111 222", confirmed.Get("recipient_phone"), "what was typed is still there")
		shown := v.submit(path, confirmed)
		words := plainSpaces.Replace(shown.words())
		require.Contains(t, words, "Pedido corregido. La tarifa pasó de S/ 9.00 a S/ 14.50.")
		require.Contains(t, words, "Se corrigió: teléfono, referencia, por cobrar, tamaño, tarifa")
		require.Contains(t, words, "Teléfono +51987654321 → pasó a +51987111222")
		require.Contains(t, words, "Por cobrar S/ 20.00 → pasó a S/ 1,250.00")
		require.Contains(t, words, "Referencia vacío → pasó a Portón <b>verde</b>")
		require.Contains(t, words, "Persona de prueba")
		read := readOrder(t, s, tenant, id)
		require.EqualValues(t, 1250, read.Data["amount_to_collect"])
		require.EqualValues(t, 14.5, read.Data["shipping_cost"])
		require.Equal(t, "Uno\nDos", read.String("notes"), "line ends are no correction")

		seen := visit(t, s, tenant, &tenant.StoreA).read("/panel/pedidos/" + id).words()
		require.Contains(t, seen, "Se corrigió: teléfono")
		require.NotContains(t, seen, "+51987654321", "a store does not see what it was")
		tracked := signedOut(t, s).get("/track/" + read.String("guide_code"))
		require.NotContains(t, tracked.Text, "corrigió")
		require.NotContains(t, tracked.Text, "987111222")
	})
}

func TestCorrection_refusesWithTheFormAsItWas(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id + "/corregir"
		v := visit(t, s, tenant, nil)
		form := v.read(path).fieldsOf(t, path)
		form.Set("recipient_phone", "12")
		form.Set("amount_to_collect", "1,234")
		form.Set("location_id", "Narnia")
		form.Set("delivery_address", " ")
		refused := v.post(path, form)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		for _, says := range []string{"No es un número de teléfono válido.", "No queda claro si la coma", "No hay ningún distrito o zona con ese nombre", "Es obligatorio."} {
			require.Contains(t, refused.words(), says)
		}
		require.Contains(t, refused.Text, `value="Narnia"`)
		form = v.read(path).fieldsOf(t, path)
		form.Set("location_id", "Cusco, Cusco (080101)")
		require.Contains(t, v.post(path, form).words(), "El operador no llega a este destino.")
	})
}

// Two people correct an order at once: what they changed in different fields is merged. Where both
// changed the same field, the second sees what the first wrote, keeps what was typed, and decides.
func TestCorrection_ofTwoIsMerged(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id + "/corregir"
		first, second := getAs(t, s, tenant, &models.User{Name: "Ana Soto"}), visit(t, s, tenant, nil)
		early, late := first.read(path).fieldsOf(t, path), second.read(path).fieldsOf(t, path)
		early.Set("recipient_phone", "987111222")
		early.Set("notes", "Timbre 2")
		late.Set("notes", "Timbre 3")
		late.Set("delivery_reference", "Portón verde")
		first.submit(path, early)

		changed := second.post(path, late)
		require.Equal(t, http.StatusUnprocessableEntity, changed.Status)
		require.Contains(t, changed.words(), changedMeanwhile)
		require.Regexp(t, `Ana Soto \(\d\d/\d\d \d\d:\d\d\) lo cambió: ahora dice «Timbre 2»\.`, changed.words())
		require.Empty(t, readOrder(t, s, tenant, id).String("delivery_reference"), "nothing was saved")
		again := changed.fieldsOf(t, path)
		require.Equal(t, []string{"+51987111222", "Timbre 3", "Portón verde"},
			[]string{again.Get("recipient_phone"), again.Get("notes"), again.Get("delivery_reference")})
		second.submit(path, again)
		read := readOrder(t, s, tenant, id)
		require.Equal(t, []string{"+51987111222", "Timbre 3", "Portón verde"},
			[]string{read.String("recipient_phone"), read.String("notes"), read.String("delivery_reference")})
		require.Contains(t, second.submit(path, again).words(), "No había nada que corregir.", "the same form again is no other correction")

		early.Set("notes", "Timbre 4")
		early.Set("recipient_phone", "+51987111222")
		require.Equal(t, http.StatusUnprocessableEntity, first.post(path, early).Status, "the form of the first is old too")
		early.Del("notes")
		early.Set("delivery_address", "Av. Larco 346")
		first.submit(path, early)
		read = readOrder(t, s, tenant, id)
		require.Equal(t, []string{"Timbre 3", "Portón verde", "Av. Larco 346"},
			[]string{read.String("notes"), read.String("delivery_reference"), read.String("delivery_address")})
	})
}

// Who may correct, and until when.
func TestCorrection_untilTheOrderEnds(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		rows := []models.Order{
			tenant.Row(time.Now(), apptest.ReceivedAfter(time.Hour)),
			tenant.Row(time.Now(), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour)),
		}
		tenant.InsertRows(t, rows)
		operator, store := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		received, delivered := "/panel/pedidos/"+rows[0].ID.String(), "/panel/pedidos/"+rows[1].ID.String()
		require.Contains(t, operator.read(received).links(), "Corregir datos")
		require.NotContains(t, store.read(received).links(), "Corregir datos")
		require.NotContains(t, operator.read(delivered).links(), "Corregir datos")
		require.NotContains(t, operator.read(delivered).Text, delivered+"/punto")
		for _, send := range []func() *page{
			func() *page { return store.get(received + "/corregir") }, func() *page { return store.post(received+"/corregir", url.Values{"notes": {"x"}}) },
		} {
			refused := send()
			require.Equal(t, http.StatusSeeOther, refused.Status)
			require.Contains(t, store.read(refused.Location).words(), "La tienda ya no puede corregir el pedido porque su estado es Recibido.")
		}
		late := operator.post(delivered+"/punto", url.Values{"delivery_point": {"-12.12, -77.03"}})
		require.Contains(t, operator.read(late.Location).words(), "El pedido ya no se puede corregir porque su estado es Entregado.")
		require.Equal(t, http.StatusNotFound, visit(t, s, tenant, &tenant.StoreB).get(received+"/corregir").Status)
		require.Equal(t, http.StatusForbidden, store.post(delivered+"/corregir-entrega", nil).Status)
	})
}

// A delivery is corrected with a reason; the list, the file and the summary have the new amount.
func TestDeliveryCorrection_countsEverywhere(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		row := tenant.Row(time.Now().Add(-3*time.Hour), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour))
		wrong := row.AmountToCollect + 4000
		row.AmountToCollect, row.ActualAmountCollected, row.PaymentType = 4500, &wrong, models.CashOnDelivery
		tenant.InsertRows(t, []models.Order{row})
		path := "/panel/pedidos/" + row.ID.String()
		v := visit(t, s, tenant, nil)
		require.Contains(t, v.read(path).Text, path+"/corregir-entrega")
		var photo bytes.Buffer
		require.NoError(t, png.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8))))

		unexplained := v.upload(path+"/corregir-entrega", url.Values{"actual_amount_collected": {"45"}}, "photo", "a.png", photo.Bytes())
		require.Equal(t, http.StatusUnprocessableEntity, unexplained.Status)
		require.Contains(t, unexplained.words(), "Es obligatorio.")
		require.Contains(t, unexplained.words(), "Elija la foto otra vez.")

		sent := v.upload(path+"/corregir-entrega", url.Values{"actual_amount_collected": {"S/ 45,50"}, "reason": {"Contó mal"}}, "photo", "a.png", photo.Bytes())
		require.Equal(t, http.StatusSeeOther, sent.Status, sent.Text)
		words := plainSpaces.Replace(v.read(sent.Location).words())
		require.Contains(t, words, "Entrega corregida.")
		require.Contains(t, words, "Entrega corregida Contó mal Cobrado S/ 40.00 → pasó a S/ 45.50 Foto vacío → pasó a foto Persona de prueba")
		require.Contains(t, words, "Prueba de entrega")
		require.Contains(t, plainSpaces.Replace(v.read("/panel/pedidos?estado=delivered").words()), "Cobrado: S/ 45.50 en total.")
		require.Contains(t, v.read("/panel/pedidos.csv").Text, ";45.50;")
		require.Contains(t, plainSpaces.Replace(v.read("/panel/resumen").words()), "S/ 45.50")
		require.NotContains(t, plainSpaces.Replace(v.read("/panel/resumen").words()), "S/ 40.00")
	})
}

// A page that was opened before somebody corrected the amount changes nothing but the photo that
// is sent with it. Without an amount and a photo there is nothing to correct.
func TestDeliveryCorrection_anOldPageUndoesNothing(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		row := tenant.Row(time.Now().Add(-3*time.Hour), apptest.ReceivedAfter(time.Hour), apptest.DeliveredAfter(tenant.Riders[0], time.Hour))
		collected := money.Cents(4000)
		row.AmountToCollect, row.ActualAmountCollected, row.PaymentType = 4500, &collected, models.CashOnDelivery
		tenant.InsertRows(t, []models.Order{row})
		path := "/panel/pedidos/" + row.ID.String()
		v := visit(t, s, tenant, nil)
		opened := v.read(path)
		send := func(amount, reason, fileName string, photo []byte) *page {
			return v.upload(path+"/corregir-entrega", url.Values{"actual_amount_collected": {amount}, "reason": {reason}}, "photo", fileName, photo)
		}
		require.Equal(t, http.StatusSeeOther, send("45", "Contó mal", "", nil).Status)
		var photo bytes.Buffer
		require.NoError(t, png.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8))))
		amount := opened.fieldsOf(t, path+"/corregir-entrega").Get("actual_amount_collected")
		require.Equal(t, http.StatusSeeOther, send(amount, "Falta la foto", "a.png", photo.Bytes()).Status)
		now, err := s.App.DB.OrderViewByID(t.Context(), row.ID)
		require.NoError(t, err)
		require.Equal(t, money.Cents(4500), *now.ActualAmountCollected)
		require.NotNil(t, now.ProofPhoto)

		require.Contains(t, plainSpaces.Replace(opened.words()), "Se cobró S/ 40.00. Vacío: queda el que hay.")
		nothing := send(amount, "Nada", "", nil)
		require.Equal(t, http.StatusUnprocessableEntity, nothing.Status)
		require.Contains(t, nothing.words(), "Indique el monto correcto, una foto nueva o ambos.")
	})
}
