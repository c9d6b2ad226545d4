package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/operators"
	"despacho/internal/panel"
	"despacho/models"
)

// panelPage is page for the panel: the panel's own scripts are allowed, and errors become a page of
// the panel.
func (s *Server) panelPage(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer s.failPanic(c, s.failPanelPage)
		c.Header("Content-Security-Policy", s.panel.Policy())
		protectPage(c)
		// Forms send a same-origin referrer: browsers without Sec-Fetch-Site are checked by it.
		c.Header("Referrer-Policy", "same-origin")
		if err := run(c, h); err != nil {
			s.failPanelPage(c, err)
		}
		answerUnchanged(c)
		compressPage(c)
	}
}

// panelRoute requires a signed-in user with the route's permission. Others are redirected to sign
// in and then back.
func (s *Server) panelRoute(route panel.Route) handler {
	return func(c *gin.Context) error {
		who, err := s.authorize(c, route.Needs)
		if errors.Is(err, operators.ErrNoSession) {
			return s.askToSignIn(c)
		}
		if errors.Is(err, operators.ErrSecondFactorRequired) {
			c.Redirect(http.StatusSeeOther, panel.SecondFactorPath)
			return nil
		}
		if err != nil {
			return err
		}
		request := panelRequest(c, who)
		if err := panel.RequireOwnPage(request); err != nil {
			return err
		}
		return route.Answer(request)
	}
}

// panelRequest is the request of a signed-in user. Its error pages have the user's menu.
func panelRequest(c *gin.Context, who *db.SignedIn) *panel.Request {
	request := &panel.Request{
		Context: c, Who: who, Caller: callerOf(who), Recheck: func(ctx context.Context) error { return recheck(ctx, c) },
	}
	request.Attach()
	return request
}

// noPanelPage answers a browser for an address of the panel that has no page, with the menu of
// whoever is signed in.
func (s *Server) noPanelPage(refuse handler) handler {
	return func(c *gin.Context) error {
		if who, err := s.authorize(c, models.OwnAccount); err == nil {
			panelRequest(c, who)
		}
		return apperror.From(refuse(c)).Saying("Esta página no existe. Revise la dirección.")
	}
}

// askToSignIn answers whoever is not signed in. Whoever sent a form is told that it is lost.
// Whoever asked for a file comes to its page, for a download would leave the browser on the sign-in
// page.
func (s *Server) askToSignIn(c *gin.Context) error {
	if c.Request.Method == http.MethodPost && !panel.IsFragment(c) && requireOwnSite(c) == nil {
		return s.panel.ShowSignIn(c, http.StatusUnauthorized, panel.SignIn{Ended: true, Next: s.panel.PageOf(c)})
	}
	next := ""
	if c.Request.Method == http.MethodGet {
		next = "?siguiente=" + url.QueryEscape(s.panel.PageOf(c))
	}
	c.Redirect(http.StatusSeeOther, "/panel/ingreso"+next)
	return nil
}

func (s *Server) failPanelPage(c *gin.Context, err error) {
	f, present := s.report(c, err)
	if !present {
		return
	}
	if err := s.panel.ShowFailure(c, statusOf[f.Kind], f); err != nil {
		s.fail(c, err)
	}
}

func (s *Server) redirectToPanel(c *gin.Context) error {
	c.Redirect(http.StatusSeeOther, "/panel")
	return nil
}

func (s *Server) showSignIn(c *gin.Context) error {
	return s.panel.ShowSignIn(c, http.StatusOK, panel.SignIn{Next: c.Query("siguiente")})
}

func (s *Server) signInFromPage(c *gin.Context) error {
	if err := requireOwnSite(c); err != nil {
		return err
	}
	asked, in, err := panel.ReadSignIn(c)
	var request operators.SignInRequest
	if err == nil {
		request, err = operators.ReadSignIn(in)
	}
	return s.finishSignIn(c, asked, request, err)
}

// signInWithCode is the second step, after the right password of a user with a second factor.
func (s *Server) signInWithCode(c *gin.Context) error {
	if err := requireOwnSite(c); err != nil {
		return err
	}
	asked, in, err := panel.ReadSignInCode(c)
	if err == nil && asked.Switched {
		return s.panel.ShowSignIn(c, http.StatusOK, asked)
	}
	var request operators.SignInRequest
	if err == nil {
		request, err = s.operators.ReadSecondStep(in)
	}
	return s.finishSignIn(c, asked, request, err)
}

// finishSignIn signs in unless the form could not be read, and shows the form of the next step if
// there is one.
func (s *Server) finishSignIn(c *gin.Context, asked panel.SignIn, request operators.SignInRequest, err error) error {
	var signed operators.SignInResult
	if err == nil {
		signed, err = s.openSession(c, request)
	}
	if err == nil {
		c.Redirect(http.StatusSeeOther, asked.Next)
		return nil
	}
	f := apperror.From(err)
	if f.Kind == apperror.Internal {
		return err
	}
	s.report(c, err)
	switch {
	case signed.SecondStep != "":
		asked.Step = signed.SecondStep
	case errors.Is(err, operators.ErrSecondStepExpired):
		asked.Step = ""
	}
	status := statusOf[f.Kind]
	if !errors.Is(err, operators.ErrCodeNeeded) {
		asked.Failure = f.Message
	} else if asked.Step != "" {
		status = http.StatusOK // the password was right: the next step follows
	}
	return s.panel.ShowSignIn(c, status, asked)
}

func (s *Server) showPasswordReset(c *gin.Context) error {
	if err := s.limitSignInAddress(c); err != nil {
		return err
	}
	token := c.Query("codigo")
	if err := s.operators.CheckPasswordReset(c.Request.Context(), token); err != nil {
		return err
	}
	return s.panel.ShowPasswordReset(c, http.StatusOK, panel.NewPasswordReset(token))
}

func (s *Server) resetPasswordFromPage(c *gin.Context) error {
	if err := s.limitPasswordReset(c); err != nil {
		return err
	}
	form, in, err := panel.ReadPasswordReset(c)
	if err == nil {
		err = s.operators.FinishPasswordReset(c.Request.Context(), in)
	}
	if err == nil {
		return s.panel.PasswordResetDone(c)
	}
	if errors.Is(err, operators.ErrResetExpired) || !form.AddError(err) {
		return err
	}
	s.report(c, err)
	return s.panel.ShowPasswordReset(c, http.StatusUnprocessableEntity, form)
}

func (s *Server) signOutFromPage(c *gin.Context) error {
	who, err := s.authorize(c, models.OwnAccount)
	if err != nil && !errors.Is(err, operators.ErrNoSession) {
		return err
	}
	if who != nil {
		if err := s.closeSession(c, who); err != nil {
			return err
		}
	}
	s.panel.ForgetUser(c)
	c.Redirect(http.StatusSeeOther, "/panel/ingreso")
	return nil
}

// servePanelAsset serves a style sheet or a script. Its URL contains its version, so browsers may
// cache it forever. The content of another version than the URL's must not be found there later.
func (s *Server) servePanelAsset(c *gin.Context) error {
	content, kind, current, known := s.panel.Asset(c.Param("name"), c.Query(panel.AssetVersion))
	if !known {
		return s.unknownRoute(c)
	}
	sendAsset(c, kind, content, current)
	return nil
}

// sendAsset sends a part of a page. Only the address of its current version may be kept for ever.
func sendAsset(c *gin.Context, kind string, content []byte, current bool) {
	c.Header("Cache-Control", "no-cache")
	if current {
		c.Header("Cache-Control", "public, max-age=31536000, immutable")
	}
	sendContent(c, http.StatusOK, kind, content)
	compressPage(c)
}
