package browser

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/internal/money"
	"despacho/internal/panel"
	"despacho/models"
	"despacho/test/apptest"
)

// An order from creation to delivery in the panel: created, scanned in, assigned to a rider,
// delivered with a photo; and the tracking page on a phone.
func TestPanel_aPackagesWholeWay(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)

		p.visit("/panel/pedidos")
		p.pressNamed("a.button", "Nuevo pedido")
		p.waitVisible("#recipient_name")
		p.fill("#recipient_name", "Rosa Díaz")
		p.fill("#recipient_phone", "987654321")
		p.fill("#delivery_address", "Av. Larco 345")
		p.fill("#location_id", "Miraflores, Lima (150122)")
		p.fill("#product", "Zapatillas")
		p.fill("#amount_to_collect", "89.90")
		p.pressNamed("main button[type=submit]", "Crear")
		p.waitVisible("#guide-code")
		code := read(t, p.tab, chromedp.Text(chromedp.CSS("#guide-code")))
		order := p.address()
		require.Regexp(t, `^/panel/pedidos/[0-9a-f-]{36}$`, order)
		p.waitForText("Registrado")

		p.visit("/panel/recepcion")
		p.scan(strings.ToLower(strings.ReplaceAll(code, "-", "")))
		p.waitVisible(`.outcome[data-outcome="received"]`)
		p.scan(s.BaseURL + "/track/" + code)
		p.waitForText("Ya estaba recibido")
		p.waitForFocus("codigo") // ready for the next

		p.visit(order)
		p.pressNamed("summary", "Asignar")
		p.choose("#rider_id", tenant.Riders[0].Name)
		p.pressNamed("button", "Confirmar asignación")
		p.waitForText("En reparto")

		p.pressNamed("summary", "Entregar")
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#photo"), []string{writePhoto(t)}))
		p.pressNamed("button", "Confirmar entrega")
		p.waitForText("Entregado")
		p.waitVisible(`img[src*=".thumb."]`)
		p.until(func() error { // the photo is really there
			if read(t, p.tab, chromedp.Evaluate[int](`document.querySelector('img[src*=".thumb."]').naturalWidth`)) == 0 {
				return errors.New("the photo is not loaded yet")
			}
			return nil
		})
		p.requireNoOverflow()

		customer := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		customer.do(emulatePhone())
		customer.visit("/track/" + code)
		customer.waitForText("Tu pedido fue entregado.")
		customer.requireNoOverflow()
		for _, private := range []string{"Rosa", "Larco", "987654321", tenant.Riders[0].Name} {
			require.NotContains(t, customer.text(), private)
		}
	})
}

// scan types as a barcode reader does: quickly, with Enter at the end.
func (p *browserUser) scan(code string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS("#codigo"), code+"\r"))
}

func writePhoto(t *testing.T) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 900, 600))
	for x := range 900 {
		for y := range 600 {
			picture.Set(x, y, color.RGBA{uint8(x / 4), uint8(y / 3), 120, 255})
		}
	}
	path := filepath.Join(t.TempDir(), "entrega.jpg")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, jpeg.Encode(file, picture, nil))
	return path
}

// Three packages go to one rider at once, and what became of each is said.
func TestPanel_assignsThreeAtOnce(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		for range 3 {
			id := s.CreateOrder(t, tenant.KeyA)
			moved := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/receive", Token: token})
			require.Equal(t, http.StatusOK, moved.Status, moved.Text)
		}
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/asignacion")
		p.waitVisible("#assignable tbody tr[data-guide]")
		p.press("#assignable [data-tick-group]")
		p.waitForText("3 marcados")
		p.choose("#rider_id", tenant.Riders[1].Name)
		p.pressNamed("button", "Asignar")
		p.waitForText("Asignado: 3")
		p.waitForText("No hay pedidos por asignar.")
		listed := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders?status=assigned", Key: tenant.Key})
		require.EqualValues(t, 3, listed.Data["total"])
	})
}

// A key works until the moment it is revoked.
func TestPanel_revokesAKey(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/claves")
		p.fill("#name", "Sistema de la tienda")
		p.press(`input[name="scopes"][value="read:orders"]`)
		p.pressNamed("button", "Crear clave")
		p.waitForText("no se volverá a mostrar")
		key := read(t, p.tab, chromedp.Evaluate[string](`document.body.innerText.match(/dsp_live_[0-9A-Za-z]{32}/)[0]`))
		status := func() int {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: key}).Status
		}
		require.Equal(t, http.StatusOK, status())
		p.visit("/panel/claves")
		require.NotContains(t, p.text(), key, "it is shown once")
		p.pressNamed("summary", "Revocar Sistema de la tienda")
		p.pressNamed(".confirm[open] button", "revocar")
		p.waitForText("Revocada")
		require.Equal(t, http.StatusUnauthorized, status())
	})
}

// A store uploads its spreadsheet: the wrong row is pointed out, the others are created, it is
// corrected and created as well, and sending the file again creates nothing.
func TestPanel_uploadsAFileWithABadRow(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		path := filepath.Join(t.TempDir(), "pedidos.csv")
		require.NoError(t, os.WriteFile(path, []byte("\ufeffdestinatario;telefono;direccion;distrito;producto;monto_a_cobrar\r\n"+
			"Rosa Díaz;987654321;Av. Larco 345;Miraflores;Zapatillas;89,90\r\n"+
			"Luis Rojas;12;Av. Arequipa 10;Miraflores;Libro;\r\n"+
			"Ana Quispe;987654322;Av. Benavides 500;Miraflores;Casaca;10\r\n"), 0o600))
		p := openDesktop(t, s)
		p.signIn(tenant, &tenant.StoreA)
		total := func() any {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.KeyA}).Data["total"]
		}
		preview := func() {
			p.visit("/panel/carga")
			p.do(chromedp.SetUploadFiles(chromedp.CSS("#archivo"), []string{path}))
			p.pressNamed("button", "Revisar el archivo")
		}
		preview()
		p.waitForText("1 con errores")
		p.waitForText("Luis Rojas")
		require.EqualValues(t, 0, total(), "nothing is created before it is confirmed")
		p.pressNamed("button", "Crear los 2 pedidos correctos")
		p.waitForText("2 creados")
		require.EqualValues(t, 2, total())
		p.fill("#celda-3-telefono", "987654323")
		p.pressNamed("button", "Revisar otra vez")
		p.waitForText("1 por crear")
		p.pressNamed("button", "Crear el pedido")
		p.waitForText("3 creados")
		require.EqualValues(t, 3, total(), "the row that was corrected where it is shown")
		preview()
		p.waitForText("2 ya existían")
		require.EqualValues(t, 3, total())
	})
}

// The page of another store's order answers not found.
func TestPanel_anotherStoresOrder(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		own, other := s.CreateOrder(t, tenant.KeyA), s.CreateOrder(t, tenant.KeyB)
		p := openDesktop(t, s)
		p.signIn(tenant, &tenant.StoreA)
		p.visit("/panel/pedidos/" + own)
		p.waitForText("Rosa Díaz")
		for _, id := range []string{other, uuid.NewString()} {
			p.visit("/panel/pedidos/" + id)
			p.waitForText("No encontrado")
			require.NotContains(t, p.text(), "Rosa")
		}
	})
}

// New orders appear in the list without a reload, fetched when something changes and not before,
// and once for all that change together.
func TestPanel_newOrdersAppear(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		p.visit("/panel/pedidos")
		p.waitForText("Todavía no hay pedidos")
		fetched := func() int {
			const count = `performance.getEntriesByType("resource").filter(({ initiatorType }) => initiatorType === "fetch").length`
			return read(t, p.tab, chromedp.Evaluate[int](count))
		}
		p.until(func() error { // what changed between the page and its stream
			if fetched() == 0 {
				return errors.New("the list was not fetched yet")
			}
			return nil
		})
		require.Equal(t, 1, fetched())
		var rows []models.Order
		for range 20 {
			rows = append(rows, tenant.Row(time.Now(), func(o *models.Order) { o.RecipientName = "Recién Llegada" }))
		}
		tenant.InsertRows(t, rows)
		p.waitForText("Recién Llegada")
		require.LessOrEqual(t, fetched(), 3, "for the change, and for what was committed later")
		require.Equal(t, "/panel/pedidos", p.address(), "nobody reloaded it")
	})
}

// Whoever works with the keyboard stays where they are when the list changes.
func TestPanel_theFocusOutlivesAChangeOfTheList(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first := s.CreateOrder(t, tenant.KeyA)
		p := openDesktop(t, s)
		p.signIn(tenant, nil)
		for _, selector := range []string{
			"#board .tabs a:nth-of-type(2)", "#board th a", "#order-" + first + " a", "#board .foot-links a",
		} {
			p.visit("/panel/pedidos")
			focused := func() string {
				return read(t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(`String(document.activeElement === document.querySelector(%q))`, selector)))
			}
			read(t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).focus() ?? ""`, selector)))
			require.Equal(t, "true", focused(), selector)
			row := "#order-" + s.CreateOrder(t, tenant.KeyA)
			p.until(func() error {
				const look = `document.dispatchEvent(new Event("visibilitychange")), document.querySelector(%q) ? "there" : ""`
				if read(t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(look, row))) == "" {
					return errors.New("the new order is not in the list yet")
				}
				return nil
			})
			require.Equal(t, "true", focused(), selector)
		}
	})
}

// No page is wider than the phone it is read on, and none calls for what its policy forbids.
func TestPanel_everyPageOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.KeyA, map[string]any{"recipient_name": strings.Repeat("Nombre larguísimo ", 8), "delivery_address": strings.Repeat("sinespacios", 20)})
		s.Register(t, tenant.Key, apptest.NewReceiver(t, nil))
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		complaints := collectConsoleErrors(p.tab)
		p.do(emulatePhone())
		p.signInAs(tenant, &models.User{Admin: true})
		visited, ofCash := 0, cashPaths(t, s, tenant)
		for _, route := range panel.New(panel.Options{Config: s.Config, DB: s.App.DB, Orders: s.App.Orders}).Routes() {
			if route.Method != http.MethodGet || skippedOnPhones[route.Path] || strings.HasSuffix(route.Path, ".csv") {
				continue
			}
			path, known := ofCash[route.Path]
			if list, below, ofOne := strings.Cut(route.Path, "/:id"); !known && ofOne {
				path = p.firstLinkBelow(list) + below
			} else if !known {
				path = route.Path
			}
			p.visit(path)
			p.waitVisible("h1")
			p.requireNoOverflow()
			visited++
		}
		require.Greater(t, visited, 20)
		require.Empty(t, complaints())
	})
}

// cashPaths are the addresses of pages about money and prices, by route, of which there is some.
func cashPaths(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) map[string]string {
	t.Helper()
	collected := money.Cents(2_097_00)
	row := tenant.Row(s.App.Clock().Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0))
	row.PaymentType, row.AmountToCollect, row.ActualAmountCollected = models.CashOnDelivery, collected, &collected
	tenant.InsertRows(t, []models.Order{row})
	books, caller := cash.New(s.App.DB, s.App.Clock()), cash.Caller{Operator: &tenant.Operator, UserID: uuid.New()}
	rider, store := tenant.Riders[0].ID, tenant.StoreA.ID
	in, _, err := books.HandIn(t.Context(), caller, rider, &cash.HandInRequest{Counted: collected - 5_00, BorneBy: models.BorneByRider, Reason: "Dio mal el vuelto"})
	require.NoError(t, err)
	to := s.App.Clock().Now().In(tenant.Operator.TimeZone()).Format(time.DateOnly)
	draft, err := books.Draft(t.Context(), caller.Operator, &store, to)
	require.NoError(t, err)
	settled, err := books.Issue(t.Context(), caller, &store, to, draft.Net())
	require.NoError(t, err)
	price := models.StorePrice{ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: store, Price: 700, FromDay: to, CreatedAt: s.App.Clock().Now()}
	tenant.Change(t, &price)
	return map[string]string{
		"/panel/tarifas/:id": "/panel/tarifas/" + price.ID.String(),
		"/panel/caja/rendir": "/panel/caja/rendir?motorizado=" + rider.String(), "/panel/caja/rendiciones/:id": "/panel/caja/rendiciones/" + in.ID.String(),
		"/panel/liquidaciones/nueva": "/panel/liquidaciones/nueva?tienda=" + store.String(), "/panel/liquidaciones/:id": "/panel/liquidaciones/" + settled.ID.String(),
	}
}

// skippedOnPhones are routes that are not pages of their own, or are printed.
var skippedOnPhones = map[string]bool{
	"/panel/ubicaciones": true, "/panel/destinos": true, "/panel/pedidos/tarifa": true, "/panel/etiquetas": true,
}

// firstLinkBelow is the first thing that a list links to.
func (p *browserUser) firstLinkBelow(list string) string {
	p.t.Helper()
	p.visit(list)
	p.waitVisible("h1")
	link := read(p.t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(
		`[...document.querySelectorAll("a")].map((a) => a.getAttribute("href") || "").find((to) => new RegExp("^" + %q + "/[0-9a-f-]{36}$").test(to)) || ""`, list)))
	require.NotEmpty(p.t, link, "%s links to nothing below it", list)
	return link
}
