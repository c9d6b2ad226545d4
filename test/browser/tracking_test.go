package browser

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// phoneWidth is the width of a phone's window.
const phoneWidth = 390

func emulatePhone() chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(phoneWidth, 844, chromedp.EmulateMobile, chromedp.EmulateScale(2))
}

// A customer with a phone types the code as it stands on the sticker, however sloppily, and reads
// where the package is.
func TestTracking_asACustomerOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order(map[string]any{
			"product": "Zapatillas <script>alert(1)</script>",
		})})
		require.Equal(t, 201, created.Status, created.Text)
		code := created.String("guide_code")

		customer := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		customer.do(emulatePhone())
		customer.visit("/")
		customer.fill(`input[name="code"]`, strings.ToLower(strings.ReplaceAll(code, "-", " "))+"\r")
		customer.waitVisible("time")
		text := customer.text()
		require.Equal(t, "/track/"+code, customer.address(), "the address holds the code in its canonical form")
		require.Contains(t, text, tenant.Operator.Name)
		require.Contains(t, text, "Registrado")
		require.Contains(t, text, "<script>alert(1)</script>", "what the store wrote is text, not markup")
		customer.requireNoOverflow()
		for _, private := range []string{"Rosa", "Larco", "987654321", "Carlos"} {
			require.NotContains(t, text, private)
		}
	})
}

// The number in an Arabic product stays beside its percent sign, as it would in an Arabic page.
func TestTracking_anArabicProduct(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: s.NewTenant(t).KeyA, Body: apptest.Order(map[string]any{"product": "خصم 50%"})})
		require.Equal(t, 201, created.Status, created.Text)
		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.visit("/track/" + created.String("guide_code"))
		p.waitForText("50%")
		require.True(t, read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const product = [...document.querySelectorAll("dd")].find((dd) => dd.textContent.includes("%")).firstChild, range = document.createRange();
			const boxOf = (sign) => (range.setStart(product, product.data.indexOf(sign)), range.setEnd(product, product.data.indexOf(sign) + 1), range.getBoundingClientRect());
			return Math.abs(boxOf("%").right - boxOf("5").left) < 1;
		})()`)), "the percent sign is beside the number")
	})
}

// A wrong code gets a friendly page with the form to try again.
func TestTracking_wrongCode(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		customer := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		customer.do(emulatePhone())
		customer.visit("/track/XXXXX-XXXXXX")
		customer.waitVisible(`input[name="code"]`)
		fields := read(t, customer.tab, chromedp.Evaluate[int](`document.querySelectorAll('input[name="code"]').length`))
		require.Equal(t, 1, fields)
	})
}

// On a phone the page of a delivered package shows the operator's logo, the photo and how to reach
// the store, under its policy and without sticking out.
func TestTracking_storeAndPhotoOnAPhone(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		send := func(method, path, kind string, body any, raw []byte) {
			t.Helper()
			request := apptest.Request{Method: method, Path: "/panel/api" + path, Token: token, Body: body, Raw: raw}
			if raw != nil {
				request.Header = map[string]string{"Content-Type": kind}
			}
			answer := s.Do(t, request)
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
		upload := func(path, field string, width, height int) {
			t.Helper()
			var form bytes.Buffer
			writer := multipart.NewWriter(&form)
			part, err := writer.CreateFormFile(field, "imagen.png")
			require.NoError(t, err)
			require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, width, height))))
			require.NoError(t, writer.Close())
			send(http.MethodPost, path, writer.FormDataContentType(), nil, form.Bytes())
		}
		upload("/settings/logo", "logo", 900, 300)
		send(http.MethodPatch, "/settings", "", map[string]any{"share_proof_photo": true}, nil)
		send(http.MethodPatch, "/stores/"+tenant.StoreA.ID.String(), "", map[string]any{
			"contact_phone": "912345600", "contact_whatsapp": "912345600", "contact_email": "atencion.al.cliente.de.la.tienda@zapateria-del-sol.example",
		}, nil)
		created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.KeyA, Body: apptest.Order()})
		require.Equal(t, http.StatusCreated, created.Status, created.Text)
		id := created.String("id")
		send(http.MethodPost, "/orders/"+id+"/receive", "", map[string]any{}, nil)
		send(http.MethodPost, "/orders/"+id+"/assign", "", map[string]any{"rider_id": tenant.Riders[0].ID}, nil)
		upload("/orders/"+id+"/deliver", "photo", 1200, 1600)

		p := &browserUser{t, open(t, phoneWidth), s.BaseURL}
		p.do(emulatePhone())
		p.visit("/track/" + created.String("guide_code"))
		p.waitForText("Foto de la entrega")
		p.waitForText("¿Dudas con tu pedido?")
		p.requireNoOverflow()
		loaded := read(t, p.tab, chromedp.Evaluate[bool](`(() => {
			const images = [...document.images];
			return images.length === 2 && images.every((image) => image.complete && image.naturalWidth > 0 && image.getBoundingClientRect().right <= innerWidth);
		})()`))
		require.True(t, loaded, "the logo and the photo are shown")
		targets := read(t, p.tab, chromedp.Evaluate[bool](`[...document.querySelectorAll(".contact a")].length === 3 && [...document.querySelectorAll(".contact a")].every((link) => link.getBoundingClientRect().height >= 44)`))
		require.True(t, targets, "the links are large enough for a thumb")
		for _, private := range []string{"Rosa", "Larco", "987654321", "Carlos"} {
			require.NotContains(t, p.text(), private)
		}
	})
}
