package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/principal"
	"despacho/models"
)

const (
	sessionCookie = "despacho_session"
	userKey       = "user"
)

var (
	errOtherSite = apperror.New(apperror.Forbidden, "cross_site_request", "La solicitud viene de otro sitio.")
	crossOrigin  = http.NewCrossOriginProtection()
)

type userView struct {
	identified
	Email      string      `json:"email"`
	Name       string      `json:"name"`
	Role       models.Role `json:"role"`
	OperatorID uuid.UUID   `json:"operator_id"`
	StoreID    *uuid.UUID  `json:"store_id"`
	Admin      bool        `json:"admin"`
	// Grants are what the user may do besides what an administrator may.
	Grants []models.Grant `json:"grants"`
	// SecondFactor means that the user signs in with a code besides the password.
	SecondFactor bool `json:"second_factor"`
}

func viewOfUser(u *models.User) userView {
	return userView{identified: identified{u.ID}, Email: u.Email, Name: u.Name, Role: u.Role, OperatorID: u.OperatorID,
		StoreID: u.StoreID, Admin: u.Admin, Grants: models.SplitSpaced[models.Grant](u.Grants), SecondFactor: u.HasSecondFactor()}
}

func (s *Server) signIn(c *gin.Context) error {
	if err := requireOwnSite(c); err != nil {
		return err
	}
	in, err := readBody(c)
	if err != nil {
		return err
	}
	request, err := operators.ReadSignIn(in)
	if err != nil {
		return err
	}
	signed, err := s.openSession(c, request)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return ok(c, gin.H{"token": signed.Token, "user": viewOfUser(signed.User)})
}

// requireOwnSite refuses the requests that another site makes with a browser. At sign-in it
// prevents login CSRF: another site must not sign a browser in as a user of its choice.
func requireOwnSite(c *gin.Context) error { return requireTrusted(c, crossOrigin) }

// requireTrusted refuses the requests that a site makes with a browser, unless trusted allows it.
func requireTrusted(c *gin.Context, trusted *http.CrossOriginProtection) error {
	if trusted.Check(c.Request) != nil {
		return errOtherSite
	}
	return nil
}

// openSession signs a user in and sets the session cookie.
func (s *Server) openSession(c *gin.Context, request operators.SignInRequest) (operators.SignInResult, error) {
	s.identify(c, principal.Principal{})
	if err := s.limitSignIns(c, request.Email); err != nil {
		return operators.SignInResult{}, cmp.Or(s.recordBlocked(c, request), err)
	}
	signed, err := s.operators.SignIn(c.Request.Context(), request)
	if err != nil {
		return signed, err
	}
	s.setSessionCookie(c, signed.Token, int(operators.SessionDuration.Seconds()))
	s.rememberDevice(c, request.Email)
	return signed, nil
}

// recordBlocked records a sign-in that was refused unchecked, once for each account in a minute: a
// flood of attempts must not flood the audit log.
func (s *Server) recordBlocked(c *gin.Context, request operators.SignInRequest) error {
	used, err := s.db.CountRequest(c.Request.Context(), "signin-blocked:"+request.Email, s.clock.Now())
	if err != nil || used > 1 {
		return err
	}
	return s.operators.SignInBlocked(c.Request.Context(), request)
}

func (s *Server) setSessionCookie(c *gin.Context, token string, maxAge int) {
	s.panel.SetCookie(c, sessionCookie, token, maxAge)
}

func (s *Server) currentSession(c *gin.Context) error {
	return ok(c, gin.H{"user": viewOfUser(&signedIn(c).User)})
}

func (s *Server) signOut(c *gin.Context) error {
	if err := s.closeSession(c, signedIn(c)); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: "Sesión cerrada."})
}

func (s *Server) closeSession(c *gin.Context, who *db.SignedIn) error {
	if err := s.operators.SignOut(c.Request.Context(), who); err != nil {
		return err
	}
	s.setSessionCookie(c, "", -1)
	return nil
}

// withUser requires a signed-in user with the permission.
func (s *Server) withUser(p models.Permission, h handler) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		if _, err := s.admitUser(c, p, uuid.Nil); err != nil {
			return err
		}
		return h(c)
	})
}

// withUserAndOrder is withUser for a request about the order of its path: the order comes with the
// session.
func (s *Server) withUserAndOrder(p models.Permission, h orderHandler) gin.HandlerFunc {
	return s.handleOrder(func(c *gin.Context, id uuid.UUID) (*models.OrderView, error) { return s.admitUser(c, p, id) }, h)
}

// admitUser checks the request's session and sets its user and caller. It returns the order with
// the id, if there is one that the user may see.
func (s *Server) admitUser(c *gin.Context, p models.Permission, orderID uuid.UUID) (*models.OrderView, error) {
	who, order, err := s.authorizeForOrder(c, p, crossOrigin, orderID)
	if err != nil {
		return nil, err
	}
	c.Set(userKey, who)
	return order, nil
}

// authorize returns the signed-in user, or an error if there is none or it lacks the permission.
func (s *Server) authorize(c *gin.Context, p models.Permission) (*db.SignedIn, error) {
	return s.authorizeFrom(c, p, crossOrigin)
}

// authorizeFrom is authorize for requests from the origins that are trusted.
func (s *Server) authorizeFrom(c *gin.Context, p models.Permission, trusted *http.CrossOriginProtection) (*db.SignedIn, error) {
	who, _, err := s.authorizeForOrder(c, p, trusted, uuid.Nil)
	return who, err
}

func (s *Server) authorizeForOrder(
	c *gin.Context, p models.Permission, trusted *http.CrossOriginProtection, orderID uuid.UUID,
) (*db.SignedIn, *models.OrderView, error) {
	token, err := sessionToken(c, trusted)
	if err != nil {
		return nil, nil, err
	}
	who, order, err := s.operators.Authorize(c.Request.Context(), token, p, orderID)
	if err != nil {
		return nil, nil, err
	}
	s.identify(c, principal.Principal{UserID: &who.User.ID})
	c.Set(callerKey, callerOf(who))
	return who, order, s.admitted(c, func(ctx context.Context) error { return s.operators.Reauthorize(ctx, token, p, who) })
}

// identify puts who makes the request into its context.
func (s *Server) identify(c *gin.Context, who principal.Principal) {
	who.Address = c.ClientIP()
	c.Request = c.Request.WithContext(principal.With(c.Request.Context(), who))
}

// sessionToken is the Bearer token, or the cookie if the request comes from a trusted origin.
func sessionToken(c *gin.Context, trusted *http.CrossOriginProtection) (string, error) {
	if token, bearer := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer "); bearer {
		return token, nil
	}
	cookie, err := c.Cookie(sessionCookie)
	if err != nil {
		return "", operators.ErrNoSession
	}
	return cookie, requireTrusted(c, trusted)
}

func callerOf(who *db.SignedIn) orders.Caller {
	return orders.Caller{Operator: &who.Operator, StoreID: who.User.StoreID, UserID: &who.User.ID}
}

func signedIn(c *gin.Context) *db.SignedIn { return c.MustGet(userKey).(*db.SignedIn) }
