package panel_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func photoOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, image.NewRGBA(image.Rect(0, 0, width, height)), nil))
	return out.Bytes()
}

// A whole life through the page: what cannot be done is refused in words, and what is done no
// longer offered.
func TestOrderMoves_fromCreationToDelivery(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		idle := models.Rider{ID: uuid.New(), OperatorID: tenant.Operator.ID, Name: "Inactivo Pérez", Phone: "+51987654329", CreatedAt: tenant.Operator.CreatedAt}
		tenant.Change(t, &idle)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{"amount_to_collect": 89.9})
		path := "/panel/pedidos/" + id
		v := visit(t, s, tenant, nil)
		offers := func(p *page, moves ...string) {
			t.Helper()
			for _, move := range []string{"recibir", "asignar", "entregar", "no-entregado", "cancelar"} {
				if slices.Contains(moves, move) {
					require.Contains(t, p.Text, path+"/"+move)
				} else {
					require.NotContains(t, p.Text, path+"/"+move)
				}
			}
		}
		offers(v.read(path), "recibir", "cancelar")
		require.Regexp(t, `Si el paquete no se recibe antes, el pedido se cancela solo el \d\d/\d\d/\d{4} \d\d:\d\d:\d\d`, v.read(path).words())
		require.Contains(t, v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[0].ID.String()}}).words(),
			"El pedido no se puede asignar porque su estado es Registrado.")
		require.Contains(t, v.post(path+"/recibir", url.Values{"branch_id": {uuid.NewString()}}).words(), "No es una sucursal activa del operador.")

		received := v.submit(path+"/recibir", url.Values{"branch_id": {tenant.Other.ID.String()}})
		require.Contains(t, received.words(), "Pedido recibido.")
		require.Contains(t, received.words(), "Sucursal que recibe Otra")
		require.NotContains(t, received.words(), "Inactivo Pérez", "only active riders are offered")
		offers(received, "asignar", "cancelar")

		require.Contains(t, v.post(path+"/asignar", url.Values{"rider_id": {""}}).words(), "Es obligatorio.")
		assigned := v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[0].ID.String()}})
		require.Contains(t, assigned.words(), "Pedido asignado a Carlos Quispe.")
		require.Contains(t, assigned.words(), "Reasignar")
		require.Regexp(t, `name="actual_amount_collected"[^>]* value="89.90"`, assigned.Text, "what is to be collected is expected")
		offers(assigned, "recibir", "asignar", "entregar", "no-entregado", "cancelar")
		require.Contains(t, v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[1].ID.String()}}).words(), "Pedido asignado a María Huamán.")

		require.Contains(t, v.upload(path+"/entregar", url.Values{"actual_amount_collected": {""}}, "photo", "", nil).words(),
			"Es obligatorio cuando el pedido es contra entrega.")
		delivered := v.read(v.upload(path+"/entregar", url.Values{"actual_amount_collected": {"90"}}, "photo", "", nil).Location)
		require.Contains(t, delivered.words(), "Pedido entregado.")
		require.Contains(t, delivered.words(), "Cobrado S/ 90.00")
		require.NotContains(t, delivered.words(), "Prueba de entrega")
		offers(delivered)
		require.Regexp(t, `Pedido registrado La tienda: prueba .*Paquete recibido Persona de prueba .*Asignado a Carlos Quispe Persona de prueba .*`+
			`Pasó de Carlos Quispe a María Huamán Persona de prueba .*Entregado por María Huamán Persona de prueba`, delivered.words())
		require.NotContains(t, delivered.words(), "se cancela solo")
		tracked := v.read("/track/" + readOrder(t, s, tenant, id).String("guide_code"))
		require.Equal(t, 1, strings.Count(tracked.words(), "Salió a reparto"), "a change of rider is not the customer's business")
	})
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// hidden are the fields that a page sends without showing them.
func (p *page) hidden() url.Values {
	fields := url.Values{}
	for _, match := range hiddenField.FindAllStringSubmatch(p.Text, -1) {
		fields.Set(match[1], match[2])
	}
	return fields
}

// assignedOrder is an order that a rider has.
func assignedOrder(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, v *visitor, changes map[string]any) (path string) {
	t.Helper()
	path = "/panel/pedidos/" + s.CreateOrder(t, tenant.KeyA, changes)
	v.submit(path+"/recibir", nil)
	v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[0].ID.String()}})
	return path
}

// A delivery that is refused comes back with everything that was typed, the photo included, and the
// cursor where the error is; amounts are read as people write them.
func TestOrderMoves_aRefusedDeliveryKeepsEverything(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 1250})
		refused := v.upload(path+"/entregar", url.Values{"actual_amount_collected": {"1,250"}, "lat": {"-12,13"}, "lng": {"-77.03"}}, "photo", "entrega.jpg", photoOf(t, 80, 60))
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "No queda claro si la coma o el punto separa miles o decimales")
		require.Regexp(t, `<details class="confirm" name="move" open><summary class="button">Entregar`, refused.Text)
		require.Regexp(t, `name="actual_amount_collected"[^>]* value="1,250"[^>]* autofocus aria-invalid="true"`, refused.Text)
		require.Contains(t, refused.Text, `name="lat" type="text" value="-12,13"`)
		require.Contains(t, refused.words(), "La foto que eligió está guardada")

		again := refused.hidden()
		again.Del("expected_version")
		for name, value := range map[string]string{"actual_amount_collected": "S/ 1,250.00", "lat": "-12,13", "lng": "-77.03"} {
			again.Set(name, value)
		}
		other := assignedOrder(t, s, tenant, v, nil)
		require.NotContains(t, v.read(v.upload(other+"/entregar", url.Values{"held_photo": again["held_photo"]}, "photo", "", nil).Location).words(), "Prueba de entrega", "it is the photo of one order")
		delivered := v.read(v.upload(path+"/entregar", again, "photo", "", nil).Location).words()
		require.Contains(t, delivered, "Pedido entregado.")
		require.Contains(t, plainSpaces.Replace(delivered), "Cobrado S/ 1,250.00")
		require.Contains(t, delivered, "Prueba de entrega Tomada el")
		require.Contains(t, delivered, "-12.13,-77.03")
	})
}

// An amount that is far from what was agreed is asked about once.
func TestOrderMoves_anUnusualAmountIsAskedAbout(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		send := func(amount string, more url.Values) *page {
			fields := url.Values{"actual_amount_collected": {amount}}
			for name, values := range more {
				fields[name] = values
			}
			return v.upload(path+"/entregar", fields, "photo", "", nil)
		}
		asked := send("500", nil)
		require.Contains(t, plainSpaces.Replace(asked.words()), "Escribió S/ 500.00, y por este pedido se cobran S/ 120.00.")
		require.Contains(t, asked.words(), "En reparto", "nothing has happened yet")
		require.Contains(t, plainSpaces.Replace(send("12", url.Values{"asked": asked.hidden()["asked"]}).words()), "Escribió S/ 12.00", "another amount is another question")
		delivered := v.read(send("500", url.Values{"asked": asked.hidden()["asked"]}).Location)
		require.Contains(t, plainSpaces.Replace(delivered.words()), "Cobrado S/ 500.00")

		for amount, agreed := range map[string]float64{"100,00": 120, "125": 120} {
			path = assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": agreed})
			require.Contains(t, v.read(send(amount, nil).Location).words(), "Pedido entregado.", "a small difference is usual")
		}
		path = assignedOrder(t, s, tenant, v, nil)
		require.Contains(t, plainSpaces.Replace(send("20", nil).words()), "Escribió S/ 20.00, y por este pedido no se cobra nada.")
	})
}

// The order goes to another rider after the page was shown. The delivery, and the money collected,
// would be that rider's: whoever sends the form sees it first, and keeps what was typed.
func TestOrderMoves_deliveryOfAnOrderThatAnotherRiderHas(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		form := v.read(path).fieldsOf(t, path+"/entregar")
		require.Equal(t, []string{"3"}, form["expected_version"])
		form.Set("actual_amount_collected", "120")
		v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[1].ID.String()}})

		refused := v.upload(path+"/entregar", form, "photo", "entrega.jpg", photoOf(t, 80, 60))
		require.Contains(t, refused.words(), "El pedido cambió desde que usted lo vio.")
		require.Contains(t, refused.words(), "La foto que eligió está guardada")
		again := refused.fieldsOf(t, path+"/entregar")
		require.Equal(t, []string{"4"}, again["expected_version"])
		require.Equal(t, []string{"120"}, again["actual_amount_collected"])
		require.Contains(t, v.read(v.upload(path+"/entregar", again, "photo", "", nil).Location).words(), "Pedido entregado.")
	})
}

// The amount to collect is corrected after the page was shown, which has filled in the earlier one.
// Whoever sends the form is asked before that is recorded as collected.
func TestOrderMoves_deliveryOfAnOrderWithACorrectedAmount(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		form := v.read(path).fieldsOf(t, path+"/entregar")
		require.Equal(t, "120.00", form.Get("actual_amount_collected"))
		corrected := s.Do(t, apptest.Request{
			Method: "PATCH", Path: "/panel/api/orders/" + strings.TrimPrefix(path, "/panel/pedidos/"), Token: tenant.SignIn(t, nil),
			Body: map[string]any{"amount_to_collect": 150},
		})
		require.Equal(t, 200, corrected.Status, corrected.Text)

		asked := v.upload(path+"/entregar", form, "photo", "", nil)
		require.Contains(t, plainSpaces.Replace(asked.words()), "Escribió S/ 120.00, y por este pedido se cobran S/ 150.00. Si es correcto, confirme otra vez.")
		again := asked.fieldsOf(t, path+"/entregar")
		require.Equal(t, "120.00", again.Get("actual_amount_collected"))
		form.Set("actual_amount_collected", "150")
		require.Contains(t, v.read(v.upload(path+"/entregar", form, "photo", "", nil).Location).words(), "Pedido entregado.", "nothing to ask about the corrected amount")

		other := assignedOrder(t, s, tenant, v, map[string]any{"amount_to_collect": 120})
		form = v.read(other).fieldsOf(t, other+"/entregar")
		require.Contains(t, v.read(v.upload(other+"/entregar", form, "photo", "", nil).Location).words(), "Pedido entregado.")
	})
}

func TestOrderMoves_cancel(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id
		store := visit(t, s, tenant, &tenant.StoreA)
		long := url.Values{"reason": {string(bytes.Repeat([]byte("ñ"), 256))}}
		refused := store.post(path+"/cancelar", long)
		require.Contains(t, refused.words(), "Admite como máximo 255 caracteres.")
		require.Contains(t, refused.Text, `value="`+long.Get("reason")+`"`, "what was typed is still there")

		cancelled := store.submit(path+"/cancelar", url.Values{"reason": {"Sin stock"}, "note": {"<i>Avisar</i>"}}).words()
		require.Contains(t, cancelled, "Pedido cancelado.")
		require.Contains(t, cancelled, "Por La tienda Motivo Sin stock Nota <i>Avisar</i>")
		require.Contains(t, cancelled, "Cancelado Sin stock La tienda")
		require.Contains(t, visit(t, s, tenant, nil).submit(path+"/recibir", nil).words(), "El pedido no se puede recibir porque su estado es Cancelado.")
	})
}

func TestOrderMoves_deliverWithAPhoto(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		path := "/panel/pedidos/" + id
		v := visit(t, s, tenant, nil)
		photo := photoOf(t, 1600, 1200)
		send := func(content []byte) *page {
			t.Helper()
			return v.upload(path+"/entregar", url.Values{"lat": {"-12.13"}, "lng": {"-77.03"}}, "photo", "entrega.jpg", content)
		}
		deliver := func(content []byte) *page {
			t.Helper()
			sent := send(content)
			require.Equal(t, http.StatusSeeOther, sent.Status, sent.Text)
			return v.read(sent.Location)
		}
		require.Contains(t, deliver(photo).words(), "El pedido no se puede entregar porque su estado es Registrado.")
		v.submit(path+"/recibir", nil)
		v.submit(path+"/asignar", url.Values{"rider_id": {tenant.Riders[0].ID.String()}})
		require.Contains(t, send([]byte("no es una foto")).words(), "Debe ser una imagen JPEG, PNG o WebP.")

		delivered := deliver(photo)
		require.Contains(t, delivered.words(), "Prueba de entrega Tomada el")
		require.Contains(t, delivered.words(), "Dónde se tomó -12.13,-77.03")
		proof, _ := readOrder(t, s, tenant, id).Data["delivery_proof"].(map[string]any)
		full, _ := proof["photo_url"].(string)
		require.NotEmpty(t, full)
		address, _, signed := strings.Cut(full, "?signature=")
		require.True(t, signed, full)
		require.Contains(t, delivered.Text, `href="`+address+`?signature=`)
		thumbnail := regexp.MustCompile(`<img src="([^"]+\.thumb\.jpg\?signature=[^"]+)"`).FindStringSubmatch(delivered.Text)
		require.NotNil(t, thumbnail)
		require.Equal(t, []int{1600, 1200}, sizeAt(t, full))
		require.Equal(t, []int{480, 360}, sizeAt(t, thumbnail[1]))

		store := visit(t, s, tenant, &tenant.StoreA).read(path).words()
		require.Contains(t, store, "Prueba de entrega")
		require.NotContains(t, store, "Dónde se tomó", "unless the operator shares it")
	})
}

// A JPEG with too many pixels is refused for its pixels; one that arrived in part is a JPEG:
// whoever sent it is not told to send a JPEG.
func TestOrderMoves_aPictureIsRefusedForWhatIsWrong(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		path := assignedOrder(t, s, tenant, v, nil)
		whole := photoOf(t, 64, 64)
		for _, picture := range []struct {
			content     []byte
			photo, logo string
		}{
			{photoOf(t, 12_001, 8), "Tiene demasiados píxeles: tómela con menos resolución o redúzcala.", "El logo tiene demasiados píxeles: redúzcalo."},
			{
				whole[:len(whole)/2], "Está dañada, incompleta o es de un tipo que no se admite: tómela o guárdela de nuevo.",
				"El logo está dañado, incompleto o es de un tipo que no se admite: guárdelo de nuevo.",
			},
		} {
			refused := v.upload(path+"/entregar", nil, "photo", "entrega.jpg", picture.content)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
			require.Contains(t, refused.words(), picture.photo)
			require.NotContains(t, refused.words(), "Debe ser una imagen")
			logo := v.upload("/panel/ajustes/logo", nil, "logo", "logo.jpg", picture.content)
			require.Equal(t, http.StatusUnprocessableEntity, logo.Status)
			require.Contains(t, logo.words(), picture.logo)
		}
	})
}

// A refused delivery leaves neither the photo nor its thumbnail behind.
func TestOrderMoves_refusedPhotosAreNotKept(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	tenant := s.NewTenant(t)
	path := "/panel/pedidos/" + s.CreateOrder(t, tenant.KeyA)
	v := visit(t, s, tenant, nil)
	for _, content := range [][]byte{photoOf(t, 16, 16), []byte("no es una foto")} {
		require.Equal(t, http.StatusSeeOther, v.upload(path+"/entregar", nil, "photo", "entrega.jpg", content).Status)
	}
	entries, err := os.ReadDir(s.Config.FilesDir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// sizeAt fetches a picture by its URL, without a session.
func sizeAt(t *testing.T, address string) []int {
	t.Helper()
	response, err := apptest.Client.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "image/jpeg", response.Header.Get("Content-Type"))
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	size, err := jpeg.DecodeConfig(bytes.NewReader(content))
	require.NoError(t, err)
	return []int{size.Width, size.Height}
}

func TestOrderMoves_lateArrivalRevives(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{Configure: func(c *config.Config) { c.AutoCancelAfter = time.Second }})
	tenant := s.NewTenant(t)
	id := s.CreateOrder(t, tenant.KeyA)
	path := "/panel/pedidos/" + id
	poll.Until(t, func() error {
		if status := readOrder(t, s, tenant, id).String("status"); status != "cancelled" {
			return errors.New("the order is " + status)
		}
		return nil
	})
	v := visit(t, s, tenant, nil)
	cancelled := v.read(path)
	require.Contains(t, cancelled.words(), "El paquete no llegó a tiempo.")
	require.NotContains(t, cancelled.Text, path+"/cancelar")
	revived := v.submit(path+"/recibir", nil).words()
	require.Contains(t, revived, "Pedido recibido.")
	require.Contains(t, revived, "Cancelado Automático")
	require.Contains(t, revived, "Paquete recibido: el pedido cancelado vuelve a estar en marcha")
	require.NotContains(t, revived, "El paquete no llegó a tiempo.")
}
