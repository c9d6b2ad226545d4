package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/web"
	"despacho/models"
)

var pages = web.New()

func rendered(t *testing.T, render func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, render(&out))
	return out.String()
}

func tracking(t *testing.T, shown web.Tracking) string {
	t.Helper()
	return rendered(t, func(w io.Writer) error { return pages.Tracking(w, shown) })
}

func lima(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Lima")
	require.NoError(t, err)
	return zone
}

func inTransit(t *testing.T) web.Tracking {
	at := time.Date(2026, time.March, 10, 3, 4, 0, 0, time.UTC)
	return web.Tracking{
		GuideCode: "8NJKT-B3T3E1", Product: "Zapatillas", Operator: "Rápido Lima", Status: models.StatusAssigned, Zone: lima(t),
		Events: []web.Event{
			{Type: "created", Status: models.StatusRegistered, At: at}, {Type: "received", Status: models.StatusReceived, At: at.Add(10 * time.Hour)},
			{Type: "assigned", Status: models.StatusAssigned, At: at.Add(15 * time.Hour)},
		},
	}
}

func everyPage(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"home": rendered(t, pages.Home), "tracking": tracking(t, inTransit(t)), "not found": rendered(t, func(w io.Writer) error { return pages.NotFound(w, `mal "escrito"`) }),
		"too many": rendered(t, func(w io.Writer) error { return pages.TooMany(w, 30*time.Second, "") }), "failure": rendered(t, func(w io.Writer) error { return pages.Failure(w, "") }),
		"no photo": rendered(t, func(w io.Writer) error {
			return pages.NoPhoto(w, "La dirección de la foto venció.", "https://despacho.example/panel")
		}),
	}
}

// Where the service has https the policy names no address of its own; a development machine shows
// its images too.
func TestPolicy_imagesWithoutHTTPS(t *testing.T) {
	t.Parallel()
	require.Equal(t, pages.Policy(), web.New("https://despacho.example", "https://fotos.example/files").Policy())
	local := web.New("http://127.0.0.1:8080", "http://127.0.0.1:8080/files").Policy()
	require.Equal(t, strings.Replace(pages.Policy(), "img-src https: data:;", "img-src https: data: http://127.0.0.1:8080;", 1), local)
}

// The timeline is latest first, in the operator's time zone, whose day may be another one.
func TestTracking_timelineInTheOperatorsTime(t *testing.T) {
	t.Parallel()
	page := tracking(t, inTransit(t))
	var entries []string
	for _, entry := range regexp.MustCompile(`<strong>(.+?)</strong><time datetime="(.+?)">(.+?)</time>`).FindAllStringSubmatch(page, -1) {
		entries = append(entries, strings.Join(entry[1:], " | "))
	}
	require.Equal(t, []string{
		"Salió a reparto | 2026-03-10T13:04:00-05:00 | 10 de marzo de 2026, 1:04\u00a0p.\u00a0m.",
		"El operador recibió el paquete | 2026-03-10T08:04:00-05:00 | 10 de marzo de 2026, 8:04\u00a0a.\u00a0m.",
		"La tienda registró tu pedido | 2026-03-09T22:04:00-05:00 | 9 de marzo de 2026, 10:04\u00a0p.\u00a0m.",
	}, entries)
	require.Contains(t, page, `<li class="done" aria-current="step">En reparto</li>`)
	require.Contains(t, page, `<li>Entregado</li>`)
}

// Midnight and noon are twelve o'clock.
func TestTracking_twelveOClock(t *testing.T) {
	t.Parallel()
	for hour, want := range map[int]string{0: "12:00\u00a0a.\u00a0m.", 12: "12:00\u00a0p.\u00a0m."} {
		shown := inTransit(t)
		shown.Events = []web.Event{{Status: models.StatusReceived, At: time.Date(2026, time.December, 31, hour, 0, 0, 0, shown.Zone)}}
		require.Contains(t, tracking(t, shown), "31 de diciembre de 2026, "+want)
	}
}

// What stores and operators type is text, wherever it is shown.
func TestTracking_escapesUserText(t *testing.T) {
	t.Parallel()
	const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>'</title></style>`
	shown := inTransit(t)
	shown.Product, shown.Operator, shown.LogoURL = attack, attack, `https://x.example/l.png" onerror="alert(1)`
	page := tracking(t, shown)
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<img src=x")
	require.NotContains(t, page, `" onerror=`)
	require.Equal(t, 1, strings.Count(page, "</title>"))
	require.Equal(t, 1, strings.Count(page, "</style>"))
	require.Contains(t, page, "&lt;script&gt;alert(1)&lt;/script&gt;")

	shown.LogoURL = "javascript:alert(1)"
	require.NotContains(t, tracking(t, shown), "javascript:")
}

// A customer reads whose package it is and what to have ready, and a link in a chat shows what it
// is.
func TestTracking_tellsStoreAmountAndSharesItself(t *testing.T) {
	t.Parallel()
	shown := inTransit(t)
	shown.Store, shown.ToCollect, shown.URL, shown.LogoURL = "Zapatería <Sol>", "S/\u00a089.90", "https://despacho.example/track/8NJKT-B3T3E1", "https://operador.example/logo.png"
	shown.ShareImage = shown.LogoURL
	page := tracking(t, shown)
	for _, want := range []string{
		"<dt>Tienda</dt><dd>Zapatería &lt;Sol&gt;</dd>", "<dt>Ten listo al recibir</dt><dd><strong>S/\u00a089.90</strong></dd>",
		`<meta property="og:title" content="En reparto: tu pedido 8NJKT-B3T3E1">`,
		`<meta property="og:description" content="Zapatillas, de Zapatería &lt;Sol&gt;. Tu pedido está en camino.">`,
		`<meta property="og:url" content="https://despacho.example/track/8NJKT-B3T3E1">`, `<meta property="og:image" content="https://operador.example/logo.png">`,
		`href="https://wa.me/?text=Sigue&#43;el&#43;paquete&#43;8NJKT-B3T3E1%3A&#43;https%3A%2F%2Fdespacho.example%2Ftrack%2F8NJKT-B3T3E1"`,
	} {
		require.Contains(t, page, want)
	}
	shown.Store, shown.ToCollect = "", ""
	page = tracking(t, shown)
	require.NotContains(t, page, "Ten listo al recibir")
	require.NotContains(t, page, "<dt>Tienda</dt>")
	require.NotContains(t, rendered(t, pages.Home), "og:")
}

func TestTracking_logoOrInitial(t *testing.T) {
	t.Parallel()
	shown := inTransit(t)
	shown.Operator = "Águila Courier"
	page := tracking(t, shown)
	require.NotContains(t, page, "<img")
	require.Contains(t, page, `aria-hidden="true">Á</span>`)

	shown.LogoURL = "https://operador.example/logo.png?v=2&x=1"
	require.Contains(t, tracking(t, shown), `src="https://operador.example/logo.png?v=2&amp;x=1"`)
}

// The policy allows the page's own style, and the pages need nothing else: no script, no file of
// ours or of others.
func TestPages_keepToTheirPolicy(t *testing.T) {
	t.Parallel()
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	for name, page := range everyPage(t) {
		sum := sha256.Sum256([]byte(style.FindStringSubmatch(page)[1]))
		require.Contains(t, pages.Policy(), "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", name)
		for _, refused := range []string{"<script", " style=", " onclick", "@import", "url(", "<iframe", " src="} {
			require.NotContains(t, page, refused, name)
		}
	}
	require.True(t, strings.HasPrefix(pages.Policy(), "default-src 'none'; "))
}

// Each page has a language, a title, one main heading and a way on; each form field its label.
func TestPages_areAccessible(t *testing.T) {
	t.Parallel()
	for name, page := range everyPage(t) {
		for _, needed := range []string{`<html lang="es">`, `content="width=device-width, initial-scale=1"`, "<main>"} {
			require.Contains(t, page, needed, name)
		}
		require.Regexp(t, `<title>[^<]+</title>`, page, name)
		require.Equal(t, 1, strings.Count(page, "<h1>"), name)
		hasForm := name != "tracking" && name != "no photo"
		require.Equal(t, hasForm, strings.Contains(page, `<form action="/track" method="get">`), name)
		require.Equal(t, hasForm, strings.Contains(page, `<label for="code">`), name)
	}
	require.Contains(t, everyPage(t)["no photo"], `<a href="https://despacho.example/panel">Ir al panel</a>`)
	require.Contains(t, tracking(t, inTransit(t)), `<a href="/">`)
}

// After a failed attempt the page says why, without blame, and what comes next.
func TestTracking_afterAFailedAttempt(t *testing.T) {
	t.Parallel()
	shown := inTransit(t)
	shown.Today, shown.Reason = "2026-03-10", models.FailedAbsent
	see := func(substatus models.Substatus, next string, words ...string) {
		t.Helper()
		shown.Substatus, shown.NextAttemptOn = substatus, next
		page := tracking(t, shown)
		for _, word := range words {
			require.Contains(t, page, word)
		}
	}
	see(models.SubstatusAttemptFailed, "", "<h1>No se pudo entregar</h1>", "Fuimos a entregar tu pedido y no había nadie.", "lo verás aquí")
	see(models.SubstatusRetryPlanned, "2026-03-12", "<h1>Iremos otra vez</h1>", "no había nadie. Volveremos el jueves 12 de marzo.")
	see(models.SubstatusRetryPlanned, "2026-03-10", "Volveremos hoy.")
	see(models.SubstatusRetryPlanned, "2026-03-09", "Volveremos pronto.")
	see(models.SubstatusReturning, "", "<h1>De vuelta a la tienda</h1>", "El paquete vuelve a la tienda.")
	require.NotContains(t, tracking(t, shown), `class="steps"`)
	for _, reason := range append(models.FailureReasons, "one from later") {
		shown.Reason, shown.Substatus = reason, models.SubstatusAwaitingDecision
		page := tracking(t, shown)
		require.NotContains(t, page, string(reason))
		require.NotContains(t, page, reason.Label()+".", "those are the words of the panel")
	}
	shown.Status, shown.Substatus = models.StatusCancelled, models.SubstatusReturned
	require.Contains(t, tracking(t, shown), "<h1>Devuelto a la tienda</h1>")

	shown = inTransit(t)
	at := shown.Events[2].At
	for i, event := range []web.Event{
		{Type: "attempt_failed", Status: models.StatusAssigned, Reason: models.FailedAbsent}, {Type: "retry_planned", Status: models.StatusAssigned, On: "2026-03-12"},
		{Type: "received", Status: models.StatusReceived}, {Type: "attempt_failed", Status: models.StatusAssigned, Reason: models.FailedOther},
		{Type: "returning", Status: models.StatusReceived}, {Type: "returned", Status: models.StatusCancelled}, {Type: "retry_planned", Status: models.StatusReceived},
	} {
		event.At = at.Add(time.Duration(i) * time.Hour)
		shown.Events = append(shown.Events, event)
	}
	page := tracking(t, shown)
	for _, entry := range []string{
		"No se pudo entregar: no había nadie", "Se intentará otra vez el jueves 12 de marzo", "El paquete volvió al operador", "No se pudo entregar",
		"El paquete vuelve a la tienda", "Se devolvió a la tienda", "Se intentará otra vez",
	} {
		require.Contains(t, page, "<strong>"+entry+"</strong>")
	}
}

func TestTracking_pin(t *testing.T) {
	t.Parallel()
	shown := inTransit(t)
	require.NotContains(t, tracking(t, shown), "PIN")
	shown.PIN = "012345"
	require.Contains(t, tracking(t, shown), "Dile este PIN al motorizado al recibir: <strong>012345</strong>")
}

func help(t *testing.T, change func(*web.Help)) string {
	t.Helper()
	shown := web.Help{Package: inTransit(t), Path: "/track/8NJKT-B3T3E1/ayuda", Key: "abc", Days: []string{"2026-03-11", "2026-03-12"}, Form: web.HelpForm{Day: "2026-03-12"}}
	shown.Package.Substatus = models.SubstatusAttemptFailed
	if change != nil {
		change(&shown)
	}
	return rendered(t, func(w io.Writer) error { return pages.Help(w, shown) })
}

// The recipient's form has the operator's days, keeps what was typed and says what is wrong with
// it; the page of a link that is over has no form.
func TestHelp(t *testing.T) {
	t.Parallel()
	page := help(t, nil)
	for _, want := range []string{
		`<form class="help" action="/track/8NJKT-B3T3E1/ayuda" method="post">`, `name="k" value="abc"`, `value="2026-03-11"> miércoles 11 de marzo</label>`,
		`value="2026-03-12" checked> jueves 12 de marzo</label>`, `<label for="reference">`, `<label for="map">`,
	} {
		require.Contains(t, page, want)
	}
	page = help(t, func(h *web.Help) {
		h.Form = web.HelpForm{Day: "2026-03-11", Reference: `<b>"puerta"`, Map: "x", Wrong: map[string]string{"map": "ahí no hay un punto"}}
	})
	require.Contains(t, page, `&lt;b&gt;&#34;puerta&#34;</textarea>`)
	require.Contains(t, page, `value="x"`)
	require.Contains(t, page, "Revisa: ahí no hay un punto.")
	page = help(t, func(h *web.Help) {
		h.Closed = &web.ClosedLink{Title: "Este enlace ya se usó", Text: "Ya está decidido."}
	})
	require.Contains(t, page, "<h1>Este enlace ya se usó</h1>")
	require.NotContains(t, page, "<form")
	require.NotContains(t, page, "<script")
}

// The recipient's page runs its own script and nothing else.
func TestHelp_keepsToItsPolicy(t *testing.T) {
	t.Parallel()
	page := help(t, nil)
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindStringSubmatch(page)
	require.NotNil(t, script)
	sum := sha256.Sum256([]byte(script[1]))
	require.Contains(t, pages.HelpPolicy(), "; script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; img-src")
	require.Equal(t, pages.Policy(), regexp.MustCompile(`script-src [^;]+; `).ReplaceAllString(pages.HelpPolicy(), ""))
	require.Equal(t, 1, strings.Count(page, "<script"))
	for _, refused := range []string{" style=", " onclick", "@import", "<iframe", " src="} {
		require.NotContains(t, page, refused)
	}
}
