package api

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/web"
)

var errUnreadableForm = apperror.New(apperror.Invalid, "invalid_form", "El formulario no se pudo leer.")

// showHelp shows the recipient what to choose for the next attempt, or why the link does nothing
// any more.
func (s *Server) showHelp(c *gin.Context) error {
	setNoIndex(c)
	found, err := s.findPackage(c, c.Param("guide_code"))
	if err != nil {
		return err
	}
	return s.showHelpForm(c, http.StatusOK, found, c.Query("k"), web.HelpForm{})
}

// takeHelp takes what the recipient has chosen. What was wrong is shown beside what was typed.
func (s *Server) takeHelp(c *gin.Context) error {
	setNoIndex(c)
	found, err := s.findPackage(c, c.Param("guide_code"))
	if err != nil {
		return err
	}
	if err := c.Request.ParseForm(); err != nil {
		var received *apperror.Error
		if errors.As(err, &received) {
			return received
		}
		return errUnreadableForm.Because(err)
	}
	typed := web.HelpForm{Day: c.PostForm("on"), Reference: c.PostForm("reference"), Map: c.PostForm("map"),
		Lat: c.PostForm("lat"), Lng: c.PostForm("lng")}
	key := c.PostForm("k")
	if s.orders.RecipientLinkState(found, key) != orders.LinkOpen {
		return s.showHelpForm(c, http.StatusGone, found, key, typed)
	}
	in, err := jsonbody.FromForm(c.Request.PostForm, map[string]jsonbody.FormField{
		"lat": jsonbody.FormNumber, "lng": jsonbody.FormNumber,
	})
	if err == nil {
		err = s.orders.DecideByRecipient(c.Request.Context(), found, in)
	}
	wrong := apperror.From(err)
	switch {
	case err == nil:
		c.Redirect(http.StatusSeeOther, "/track/"+found.GuideCode)
		return nil
	case orders.IsDecided(err):
		if found, err = s.orders.Track(c.Request.Context(), found.GuideCode); err != nil {
			return err
		}
		return s.showHelpForm(c, http.StatusGone, found, key, typed)
	case wrong.Kind != apperror.Invalid:
		return err
	}
	typed.Wrong = map[string]string{}
	for _, field := range wrong.Fields {
		name := field.Field
		if name == "lat" || name == "lng" {
			name = "map"
		}
		typed.Wrong[name] = field.Message
	}
	return s.showHelpForm(c, http.StatusUnprocessableEntity, found, key, typed)
}

// linkTexts say why a link does nothing.
var linkTexts = map[orders.LinkState]web.ClosedLink{
	orders.LinkUnknown:   {Title: "Este enlace no es válido", Text: "Revisa que esté completo, o pide otro a la tienda donde compraste."},
	orders.LinkExpired:   {Title: "Este enlace venció", Text: "Ya pasó el tiempo para elegir. Mira qué sigue en la página de tu envío."},
	orders.LinkUsed:      {Title: "Este enlace ya se usó", Text: "Ya está decidido qué sigue con tu pedido. Mira cómo va en la página de tu envío."},
	orders.LinkSuspended: {Title: "Ahora no se puede cambiar la entrega", Text: "Comunícate con la tienda donde compraste."},
}

func (s *Server) showHelpForm(c *gin.Context, status int, found *orders.Tracked, key string, form web.HelpForm) error {
	state := s.orders.RecipientLinkState(found, key)
	help := web.Help{Package: s.trackingPage(found), Key: key, Path: orders.RecipientPath(found.GuideCode), Form: form}
	if closed, is := linkTexts[state]; is {
		help.Closed = &closed
		status = max(status, http.StatusGone)
		if state == orders.LinkUnknown {
			status = http.StatusNotFound
		}
	}
	for _, day := range s.orders.RecipientDays(found) {
		help.Days = append(help.Days, day.Format(time.DateOnly))
	}
	if !slices.Contains(help.Days, form.Day) {
		help.Form.Day = help.Days[0]
	}
	c.Header("Content-Security-Policy", s.pages.HelpPolicy())
	return showPage(c, status, func(w io.Writer) error { return s.pages.Help(w, help) })
}
