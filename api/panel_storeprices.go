package api

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/models"
)

type storePriceView struct {
	identified
	StoreID    uuid.UUID   `json:"store_id"`
	LocationID *uuid.UUID  `json:"location_id"`
	Price      money.Cents `json:"price"`
	FromDay    string      `json:"from_day"`
	UntilDay   *string     `json:"until_day"`
	CreatedAt  time.Time   `json:"created_at"`
}

func viewOfStorePrice(p *models.StorePrice) storePriceView {
	return storePriceView{
		identified: identified{p.ID}, StoreID: p.StoreID, LocationID: p.LocationID, Price: p.Price,
		FromDay: p.FromDay, UntilDay: p.UntilDay, CreatedAt: p.CreatedAt.UTC(),
	}
}

func (s *Server) deleteStorePrice(c *gin.Context) error {
	return respondDelete(c, "La tarifa de la tienda se quitó.", operators.ErrPriceNotFound, s.operators.DeleteStorePrice)
}
