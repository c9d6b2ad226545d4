package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/operators"
	"despacho/models"
)

// panelUserView is a user as the operator's administrators see it.
type panelUserView struct {
	userView
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
	// Password is shown once, when it was generated.
	Password string `json:"password,omitempty"`
}

func viewOfPanelUser(u *models.User) panelUserView {
	return panelUserView{userView: viewOfUser(u), Active: u.Active, CreatedAt: u.CreatedAt.UTC()}
}

func (s *Server) listUsers(c *gin.Context) error {
	users, err := s.operators.Users(c.Request.Context(), caller(c).Operator)
	if err != nil {
		return err
	}
	return ok(c, views(users, viewOfPanelUser))
}

func (s *Server) createUser(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	user, generated, err := s.operators.CreateUser(c.Request.Context(), caller(c).Operator, in)
	if err != nil {
		return err
	}
	view := viewOfPanelUser(user)
	view.Password = generated
	return respondSecret(c, envelope{Message: passwordMessage(generated)}, view)
}

func (s *Server) changeUser(c *gin.Context) error {
	id, in, err := idAndBody(c, operators.ErrUserNotFound, readBody)
	if err != nil {
		return err
	}
	user, err := s.operators.ChangeUser(c.Request.Context(), caller(c).Operator, id, in, nil)
	if err != nil {
		return err
	}
	return ok(c, viewOfPanelUser(user))
}

// resetPassword gives a user a new password, because the old one was forgotten or leaked.
func (s *Server) resetPassword(c *gin.Context) error {
	id, in, err := idAndBody(c, operators.ErrUserNotFound, readOptionalBody)
	if err != nil {
		return err
	}
	generated, err := s.operators.ResetPassword(c.Request.Context(), signedIn(c), id, in)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	answer := envelope{Message: passwordMessage(generated)}
	if generated != "" {
		answer.Data = gin.H{"password": generated}
	}
	return respond(c, http.StatusOK, answer)
}

func passwordMessage(generated string) string {
	if generated == "" {
		return "La contraseña quedó guardada."
	}
	return "Entregue la contraseña al usuario: no se volverá a mostrar."
}

// changePassword changes the signed-in user's own password.
func (s *Server) changePassword(c *gin.Context) error {
	who := signedIn(c)
	in, err := readBody(c)
	if err != nil {
		return err
	}
	if err := s.limitPasswordAttempts(c, &who.User); err != nil {
		return err
	}
	if err := s.operators.ChangePassword(c.Request.Context(), who, in); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: "La contraseña cambió. Sus otras sesiones se cerraron."})
}
