package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"despacho/internal/operators"
)

// startPasswordReset gives an administrator a link for a user who is to choose a new password.
func (s *Server) startPasswordReset(c *gin.Context) error {
	id, err := pathID(c, operators.ErrUserNotFound)
	if err != nil {
		return err
	}
	reset, err := s.operators.StartPasswordReset(c.Request.Context(), signedIn(c), id)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusCreated, envelope{
		Data:    gin.H{"token": reset.Token, "url": reset.Link(s.config.BaseURL), "expires_at": reset.ExpiresAt.UTC()},
		Message: "Entregue el enlace al usuario: sirve una vez y no se volverá a mostrar.",
	})
}

// finishPasswordReset sets the password that a user chose with the token of a reset.
func (s *Server) finishPasswordReset(c *gin.Context) error {
	if err := s.limitPasswordReset(c); err != nil {
		return err
	}
	in, err := readBody(c)
	if err != nil {
		return err
	}
	if err := s.operators.FinishPasswordReset(c.Request.Context(), in); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: "La contraseña quedó guardada: ya puede ingresar."})
}

// limitPasswordReset refuses other sites, and counts the use of a reset like a sign-in.
func (s *Server) limitPasswordReset(c *gin.Context) error {
	if err := requireOwnSite(c); err != nil {
		return err
	}
	return s.limitSignInAddress(c)
}
