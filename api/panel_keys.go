package api

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/models"
)

type keyView struct {
	identified
	Name string `json:"name"`
	// Key is shown once, on creation.
	Key       string         `json:"key,omitempty"`
	Prefix    string         `json:"prefix"`
	Last4     string         `json:"last4"`
	Scopes    []models.Scope `json:"scopes"`
	StoreID   *uuid.UUID     `json:"store_id"`
	ExpiresAt *time.Time     `json:"expires_at"`
	// Test is there only in a test key.
	Test bool `json:"test,omitempty"`
}

type listedKeyView struct {
	keyView
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	// LastUsedAt is at most a minute older than the latest use; LastUsedFrom is the client's address.
	LastUsedAt   *time.Time `json:"last_used_at"`
	LastUsedFrom *string    `json:"last_used_from"`
}

func viewOfKey(k *models.APIKey) keyView {
	return keyView{
		identified: identified{k.ID}, Name: k.Name, Test: k.Test, Prefix: k.Prefix, Last4: k.Last4,
		Scopes:  models.SplitSpaced[models.Scope](k.Scopes),
		StoreID: k.StoreID, ExpiresAt: inUTC(k.ExpiresAt),
	}
}

func viewOfListedKey(k *models.APIKey) listedKeyView {
	return listedKeyView{
		keyView: viewOfKey(k), CreatedAt: k.CreatedAt.UTC(), RevokedAt: inUTC(k.RevokedAt),
		LastUsedAt: inUTC(k.LastUsedAt), LastUsedFrom: k.LastUsedFrom,
	}
}

func inUTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	utc := at.UTC()
	return &utc
}

func (s *Server) listKeys(c *gin.Context) error {
	keys, err := s.operators.Keys(c.Request.Context(), caller(c).Operator)
	if err != nil {
		return err
	}
	return ok(c, views(keys, viewOfListedKey))
}

func (s *Server) createKey(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	key, plain, err := s.operators.CreateKey(c.Request.Context(), caller(c).Operator, in)
	if err != nil {
		return err
	}
	view := viewOfKey(key)
	view.Key = plain
	return respondSecret(c, envelope{Message: "Guarde la clave: no se volverá a mostrar."}, view)
}

func (s *Server) revokeKey(c *gin.Context) error {
	return respondDelete(c, "La clave quedó revocada.", operators.ErrKeyNotFound, s.operators.RevokeKey)
}
