package browser

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

var screenshots = flag.String("screenshots", "", "directory to write pictures of the main pages to")

// TestScreenshots takes the pictures that the README shows. It runs when asked: make screenshots.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("without -screenshots there is nowhere to write them")
	}
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{})
	tenant := s.NewTenant(t, func(o *models.Operator) { o.Name = "Rayo Envíos" })
	shown := seedPanel(t, s, tenant)

	p := openDesktop(t, s)
	p.do(chromedp.EmulateViewport(1366, 768))
	p.signInAs(tenant, &models.User{Name: "Milagros Vega"})
	p.visit("/panel/hoy")
	p.screenshot("hoy")
	p.visit("/panel/pedidos")
	p.screenshot("pedidos")
	p.visit("/panel/pedidos/" + shown.assigned)
	p.screenshot("pedido")
	p.visit("/panel/recepcion")
	p.waitForFocus("codigo")
	p.types(shown.registeredCode+"\r", readersKey)
	p.waitVisible(".outcome")
	p.screenshot("recepcion")
	p.visit("/panel/asignacion")
	p.press("#assignable [data-tick-group]")
	p.screenshot("asignacion")
	p.visit("/panel/resumen")
	p.screenshot("resumen")
	p.visit("/panel/etiquetas?id=" + shown.assigned)
	p.screenshot("etiqueta")

	customer := &browserUser{t, open(t, phoneWidth), s.BaseURL}
	customer.do(emulatePhone())
	customer.visit("/track/" + shown.assignedCode)
	customer.waitForText("En reparto")
	customer.screenshot("seguimiento")
}

// screenshot writes a picture of the window.
func (p *browserUser) screenshot(name string) {
	p.t.Helper()
	p.waitVisible("body")
	content := read(p.t, p.tab, chromedp.CaptureScreenshot())
	require.NoError(p.t, os.MkdirAll(*screenshots, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(*screenshots, name+".png"), content, 0o644))
}

// seededOrders are the orders that the pictures show.
type seededOrders struct{ assigned, assignedCode, registeredCode string }

// seedPanel inserts a month of orders, the same every time.
func seedPanel(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) seededOrders {
	t.Helper()
	chance := rand.New(rand.NewPCG(7, 7))
	var past []models.Order
	for day := 28; day > 0; day-- {
		for range 6 + chance.IntN(9) {
			received := apptest.ReceivedAfter(time.Duration(30+chance.IntN(200)) * time.Minute)
			delivered := apptest.DeliveredAfter(tenant.Riders[chance.IntN(2)], time.Duration(40+chance.IntN(400))*time.Minute)
			created := time.Now().AddDate(0, 0, -day).Add(-time.Duration(chance.IntN(300)) * time.Minute)
			row := tenant.Row(created, received, delivered)
			switch chance.IntN(12) {
			case 0:
				row = tenant.Row(created, apptest.CancelledBy(models.ByAuto, ""))
			case 1:
				row = tenant.Row(created, apptest.CancelledBy(models.ByStore, "El cliente desistió"))
			}
			past = append(past, row)
		}
	}
	tenant.InsertRows(t, past)

	token := tenant.SignIn(t, nil)
	move := func(id, name string, body map[string]any) {
		moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/" + name, Token: token, Body: body})
		require.Equal(t, http.StatusOK, moved.Status, moved.Text)
	}
	var shown seededOrders
	for i, recipient := range []string{"José Quispe", "Ana Lucía Paredes", "Luis Alberto Torres", "Carmen Flores", "Rosa Díaz", "María Fernanda Huamán", "Pedro Salazar", "Lucía Rojas"} {
		created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: []string{tenant.KeyA, tenant.KeyB}[i%2], Body: apptest.Order(map[string]any{
			"recipient_name": recipient, "delivery_address": "Av. Larco " + string(rune('1'+i)) + "45, dpto. 201", "delivery_reference": "Frente al parque",
			"amount_to_collect": []float64{89.9, 0, 45.5}[i%3], "delivery_lat": -12.1211, "delivery_lng": -77.0297,
		})})
		require.Equal(t, http.StatusCreated, created.Status, created.Text)
		id := created.String("id")
		if i%4 == 0 {
			shown.registeredCode = created.String("guide_code")
			continue
		}
		move(id, "receive", map[string]any{})
		if i%4 == 1 {
			continue
		}
		move(id, "assign", map[string]any{"rider_id": tenant.Riders[i%2].ID.String()})
		if i%4 == 2 {
			shown.assigned, shown.assignedCode = id, created.String("guide_code")
		} else {
			move(id, "deliver", map[string]any{"actual_amount_collected": 45.5})
		}
	}
	return shown
}
