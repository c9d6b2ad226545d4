package api

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/guidecode"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/photos"
	"despacho/internal/web"
	"despacho/models"
)

// page is handle for HTML: errors become a page too, and no page may be stored, framed or sent on
// as a referrer.
func (s *Server) page(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer s.failPanic(c, s.failPage)
		c.Header("Content-Security-Policy", s.pages.Policy())
		protectPage(c)
		if err := run(c, h); err != nil {
			s.failPage(c, err)
		}
		compressPage(c)
	}
}

func protectPage(c *gin.Context) {
	c.Header("Referrer-Policy", "no-referrer") // the URL contains the guide code
	c.Header("Cache-Control", "no-store")
}

func (s *Server) failPage(c *gin.Context, err error) {
	f, present := s.report(c, err)
	if !present {
		return
	}
	typed := cmp.Or(c.Param("guide_code"), c.Query("code"))
	err = showPage(c, statusOf[f.Kind], func(w io.Writer) error {
		switch f.Kind {
		case apperror.NotFound:
			return s.pages.NotFound(w, typed)
		case apperror.TooMany:
			return s.pages.TooMany(w, f.RetryAfter, typed)
		}
		return s.pages.Failure(w, typed)
	})
	if err != nil {
		s.fail(c, err)
	}
}

// showPage renders into memory first, so that a template that fails sends no partial page.
func showPage(c *gin.Context, status int, render func(io.Writer) error) error {
	var out bytes.Buffer
	if err := render(&out); err != nil {
		return err
	}
	c.Data(status, "text/html; charset=utf-8", out.Bytes())
	return nil
}

func (s *Server) showTrackingForm(c *gin.Context) error {
	return showPage(c, http.StatusOK, s.pages.Home)
}

// redirectToPackage handles the form: it redirects to the package's own URL, which can be
// bookmarked. Customers paste what they were sent: a whole address, or the code with the sign that
// ends its sentence.
func (s *Server) redirectToPackage(c *gin.Context) error {
	setNoIndex(c)
	typed := c.Query("code")
	if strings.TrimSpace(typed) == "" {
		c.Redirect(http.StatusSeeOther, "/")
		return nil
	}
	code, err := guidecode.Scan(typed)
	if err != nil {
		return s.showByCode(c, typed)
	}
	c.Redirect(http.StatusSeeOther, "/track/"+code)
	return nil
}

func (s *Server) showPackage(c *gin.Context) error {
	setNoIndex(c)
	return s.showByCode(c, c.Param("guide_code"))
}

// showByCode shows the package of a guide code as it was typed.
func (s *Server) showByCode(c *gin.Context, typed string) error {
	found, err := s.findPackage(c, typed)
	if err != nil {
		return err
	}
	return showPage(c, http.StatusOK, func(w io.Writer) error { return s.pages.Tracking(w, s.trackingPage(found)) })
}

// setNoIndex keeps search engines from indexing a URL that contains a guide code.
func setNoIndex(c *gin.Context) { c.Header("X-Robots-Tag", "noindex") }

// trackingPage is what the tracking page shows of a package.
func (s *Server) trackingPage(p *orders.Tracked) web.Tracking {
	shown := web.Tracking{
		GuideCode: p.GuideCode, Product: p.Product, Operator: p.OperatorName, Status: p.Status, Zone: p.TimeZone(), Test: p.Test,
	}
	shown.URL = s.config.BaseURL + "/track/" + p.GuideCode
	shown.Store, shown.StorePhone = orEmpty(p.StoreName), orEmpty(p.StorePhone)
	shown.StoreWhatsApp, shown.StoreEmail = orEmpty(p.StoreWhatsApp), orEmpty(p.StoreEmail)
	if p.Status == models.StatusDelivered && p.ShareProofPhoto && p.ProofPhoto != nil {
		now := s.clock.Now()
		shown.Photo, shown.Thumbnail = s.photoURLs.Signed(*p.ProofPhoto, now),
			s.photoURLs.Signed(photos.ThumbnailName(*p.ProofPhoto), now)
	}
	if p.Substatus != nil {
		shown.Substatus, shown.NextAttemptOn = *p.Substatus, orEmpty(p.NextAttemptOn)
		shown.Today = s.clock.Now().In(shown.Zone).Format(time.DateOnly)
		if latest := p.Attempts.Latest(); latest != nil {
			shown.Reason = latest.Reason
		}
	}
	shown.PIN = s.orders.PINOf(p)
	if p.Status.Open() && shown.Substatus != models.SubstatusReturning && p.AmountToCollect > 0 {
		shown.ToCollect = format.Amount(p.AmountToCollect, p.Currency)
	}
	if logo := p.Logo(""); logo != nil {
		shown.LogoURL, shown.ShareImage = *logo, *p.Logo(s.config.BaseURL)
	}
	for _, step := range p.Steps {
		event := web.Event{Type: step.Type, Status: step.Status, At: step.At, Reason: step.Reason, On: step.On}
		last := len(shown.Events) - 1
		switch {
		case last >= 0 && shown.Events[last].Type == event.Type && event.Type == string(models.MoveAssign):
			// A change of rider is not the customer's business: the package goes out once.
		case last >= 0 && shown.Events[last].Type == event.Type && event.Type == string(models.MoveRetry):
			shown.Events[last] = event // another day than was planned first
		default:
			shown.Events = append(shown.Events, event)
		}
		shown.Revivable = step.TimedOut
	}
	return shown
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
