package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/operators"
	"despacho/models"
)

type panelStoreView struct {
	identified
	Name   string `json:"name"`
	Active bool   `json:"active"`
	// The contacts are for customers.
	ContactPhone    *string   `json:"contact_phone"`
	ContactWhatsApp *string   `json:"contact_whatsapp"`
	ContactEmail    *string   `json:"contact_email"`
	CreatedAt       time.Time `json:"created_at"`
}

func viewOfStore(s *models.Store) panelStoreView {
	return panelStoreView{
		identified: identified{s.ID}, Name: s.Name, Active: s.Active,
		ContactPhone: s.ContactPhone, ContactWhatsApp: s.ContactWhatsApp, ContactEmail: s.ContactEmail, CreatedAt: s.CreatedAt.UTC(),
	}
}

func (s *Server) panelListStores(c *gin.Context) error {
	return respondList(c, viewOfStore, s.operators.Stores)
}

func (s *Server) createStore(c *gin.Context) error {
	return respondCreate(c, viewOfStore, s.operators.CreateStore)
}

func (s *Server) changeStore(c *gin.Context) error {
	return respondChange(c, viewOfStore, operators.ErrStoreNotFound, s.operators.ChangeStore)
}
