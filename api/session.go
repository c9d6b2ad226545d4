package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/credentials"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/orders"
)

const (
	sessionCookie    = "despacho_session"
	sessionLasts     = 12 * time.Hour
	signInsPerMinute = 10
	userKey          = "user"
)

var (
	errBadSignIn = apperror.New(apperror.Unauthenticated, "invalid_credentials", "El correo o la contraseña no son correctos.")
	errNoSession = apperror.New(apperror.Unauthenticated, "no_session", "Inicie sesión para continuar.")
	errForbidden = apperror.New(apperror.Forbidden, "role_not_allowed", "Su usuario no tiene permiso para esta acción.")
	errSuspended = apperror.New(apperror.Forbidden, "operator_suspended", "El operador está suspendido: puede consultar, pero no hacer cambios.")
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
}

func viewOfUser(u *models.User) userView {
	return userView{identified: identified{u.ID}, Email: u.Email, Name: u.Name, Role: u.Role, OperatorID: u.OperatorID, StoreID: u.StoreID, Admin: u.Admin}
}

func (s *Server) signIn(c *gin.Context) error {
	// Prevents login CSRF: another site must not sign a browser in as a user of its choice.
	if crossOrigin.Check(c.Request) != nil {
		return errOtherSite
	}
	in, err := readBody(c)
	if err != nil {
		return err
	}
	user, token, err := s.openSessionFor(c, in)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return ok(c, gin.H{"token": token, "user": viewOfUser(user)})
}

// openSessionFor checks the email and password and sets the session cookie.
func (s *Server) openSessionFor(c *gin.Context, in *jsonbody.Object) (*models.User, string, error) {
	email, password := strings.ToLower(in.RequiredText("email", 254)), in.RequiredSecret("password", 200)
	if err := in.Err(); err != nil {
		return nil, "", err
	}
	if err := s.limitAddress(c, "signin:"+email, signInsPerMinute); err != nil {
		return nil, "", err
	}
	user, err := s.checkPassword(c, email, password)
	if err != nil {
		return nil, "", err
	}
	token, err := s.openSession(c, user)
	if err != nil {
		return nil, "", err
	}
	s.setSessionCookie(c, token, int(sessionLasts.Seconds()))
	return user, token, nil
}

// checkPassword takes as long for an unknown email as for a wrong password, so that its duration
// does not tell which emails exist.
func (s *Server) checkPassword(c *gin.Context, email, password string) (*models.User, error) {
	user, err := s.db.UserByEmail(c.Request.Context(), email)
	if err != nil && !db.IsNotFound(err) {
		return nil, err
	}
	if !credentials.PasswordMatches(user.PasswordHash, password) || !user.Active {
		return nil, errBadSignIn
	}
	return user, nil
}

func (s *Server) openSession(c *gin.Context, user *models.User) (string, error) {
	token, err := credentials.NewToken()
	if err != nil {
		return "", err
	}
	now := s.clock.Now()
	err = s.db.InsertSession(c.Request.Context(), &models.Session{
		ID: uuid.New(), UserID: user.ID, TokenHash: credentials.Hash(token), CreatedAt: now, ExpiresAt: now.Add(sessionLasts),
	}, user.PasswordHash)
	if db.IsNotFound(err) {
		return "", errBadSignIn
	}
	return token, err
}

func (s *Server) setSessionCookie(c *gin.Context, token string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: sessionCookie, Value: token, Path: "/panel", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(s.config.BaseURL, "https://"),
	})
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
	if err := s.db.DeleteSession(c.Request.Context(), who.SessionID); err != nil {
		return err
	}
	s.setSessionCookie(c, "", -1)
	return nil
}

// withUser requires a signed-in user with the permission.
func (s *Server) withUser(p models.Permission, h handler) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		who, err := s.authorize(c, p)
		if err != nil {
			return err
		}
		c.Set(userKey, who)
		c.Set(callerKey, callerOf(who))
		return h(c)
	})
}

// authorize returns the signed-in user, or an error if there is none or it lacks the permission.
func (s *Server) authorize(c *gin.Context, p models.Permission) (*db.SignedIn, error) {
	who, err := s.session(c)
	switch {
	case err != nil:
		return nil, err
	case !p.Allows(&who.User):
		return nil, errForbidden
	case p.Writes && who.Operator.Suspended():
		return nil, errSuspended
	}
	return who, nil
}

func callerOf(who *db.SignedIn) orders.Caller {
	return orders.Caller{Operator: &who.Operator, StoreID: who.User.StoreID}
}

func signedIn(c *gin.Context) *db.SignedIn { return c.MustGet(userKey).(*db.SignedIn) }

// session finds the signed-in user by Bearer token, or by cookie if the request comes from our own
// origin.
func (s *Server) session(c *gin.Context) (*db.SignedIn, error) {
	token, bearer := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
	if !bearer {
		cookie, err := c.Cookie(sessionCookie)
		if err != nil {
			return nil, errNoSession
		}
		if crossOrigin.Check(c.Request) != nil {
			return nil, errOtherSite
		}
		token = cookie
	}
	who, err := s.db.SessionByToken(c.Request.Context(), credentials.Hash(token), s.clock.Now())
	if db.IsNotFound(err) {
		return nil, errNoSession
	}
	return who, err
}
