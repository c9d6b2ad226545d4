package api

import (
	"encoding/json"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/models"
)

const (
	deviceCookie   = "despacho_device"
	devicePurpose  = "device of a user"
	deviceDuration = 180 * 24 * time.Hour

	// networksAtOnce is how many networks of one clientSite may use up their sign-ins in a minute:
	// passwords cost work, and a site has 65,536 networks.
	networksAtOnce = 10
)

// device is a browser that a user has signed in with. Its attempts count for themselves, so that
// nobody else can use up the attempts of the account and keep the user out.
type device struct {
	Email string
	ID    uuid.UUID
}

// limitSignIns counts an attempt to sign in, right or wrong: against the client's network first, so
// that a network over its limit does not use up the attempts of accounts, then against the account.
func (s *Server) limitSignIns(c *gin.Context, email string) error {
	if err := s.limitSignInAddress(c); err != nil {
		return err
	}
	subject := "account:" + email
	if known, ok := s.knownDevice(c, email); ok {
		subject = "device:" + known.String()
	}
	return s.limitSubject(c, subject, s.config.Limits.SignInsPerAccount, "Demasiados intentos de ingresar con este correo.")
}

// limitSignInAddress counts what a client does that costs as much as a sign-in.
func (s *Server) limitSignInAddress(c *gin.Context) error {
	if err := s.limitAddress(c, "signin", s.config.Limits.SignInsPerAddress); err != nil {
		return err
	}
	site, ok := clientSite(c)
	if !ok {
		return nil
	}
	return s.limitSubject(c, "signin-site:"+site, networksAtOnce*s.config.Limits.SignInsPerAddress, tooManyFromAddress)
}

// limitPasswordAttempts counts an attempt of a signed-in user to enter the current password or a
// code, with the same limit as sign-in.
func (s *Server) limitPasswordAttempts(c *gin.Context, user *models.User) error {
	return s.limitSubject(c, "password:"+user.ID.String(), s.config.Limits.SignInsPerAccount,
		"Demasiados intentos con una contraseña o un código.")
}

func (s *Server) knownDevice(c *gin.Context, email string) (uuid.UUID, bool) {
	cookie, err := c.Cookie(deviceCookie)
	if err != nil {
		return uuid.Nil, false
	}
	payload, ok := s.signer.Open(devicePurpose, cookie, s.clock.Now())
	var known device
	if !ok || json.Unmarshal(payload, &known) != nil || known.Email != email {
		return uuid.Nil, false
	}
	return known.ID, true
}

// rememberDevice makes the browser one that the user has signed in with.
func (s *Server) rememberDevice(c *gin.Context, email string) {
	id, ok := s.knownDevice(c, email)
	if !ok {
		id = uuid.New()
	}
	payload, err := json.Marshal(device{Email: email, ID: id})
	if err != nil {
		return // text can always be encoded
	}
	s.panel.SetCookie(c, deviceCookie, s.signer.Sign(devicePurpose, payload, s.clock.Now().Add(deviceDuration)),
		int(deviceDuration.Seconds()))
}
