package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/models"
)

// readPasswordAttempt reads a body in which a signed-in user proves who it is, and counts the
// attempt.
func (s *Server) readPasswordAttempt(c *gin.Context) (*jsonbody.Object, error) {
	in, err := readBody(c)
	if err != nil {
		return nil, err
	}
	return in, s.limitPasswordAttempts(c, &signedIn(c).User)
}

// startSecondFactor generates a second factor for the signed-in user.
func (s *Server) startSecondFactor(c *gin.Context) error {
	in, err := s.readPasswordAttempt(c)
	if err != nil {
		return err
	}
	started, err := s.operators.StartSecondFactor(c.Request.Context(), signedIn(c), in)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusCreated, envelope{
		Data: gin.H{"secret": started.Secret, "uri": started.URI}, Message: "Confirme con un código: hasta entonces no cuenta.",
	})
}

// confirmSecondFactor makes it count and shows the recovery codes, this once.
func (s *Server) confirmSecondFactor(c *gin.Context) error {
	in, err := s.readPasswordAttempt(c)
	if err != nil {
		return err
	}
	codes, err := s.operators.ConfirmSecondFactor(c.Request.Context(), signedIn(c), in)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusOK, envelope{
		Data:    gin.H{"recovery_codes": codes},
		Message: "Guarde los códigos de recuperación: no se volverán a mostrar. Sus otras sesiones se cerraron.",
	})
}

func (s *Server) removeSecondFactor(c *gin.Context) error {
	in, err := s.readPasswordAttempt(c)
	if err != nil {
		return err
	}
	if err := s.operators.RemoveSecondFactor(c.Request.Context(), signedIn(c), in); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: "Ya no hace falta un segundo factor para ingresar."})
}

// resetSecondFactor removes a colleague's second factor.
func (s *Server) resetSecondFactor(c *gin.Context) error {
	return respondDelete(c, "El usuario ya no tiene segundo factor. Sus sesiones se cerraron.", operators.ErrUserNotFound,
		func(ctx context.Context, _ *models.Operator, id uuid.UUID) error {
			return s.operators.ResetSecondFactor(ctx, signedIn(c), id)
		})
}
