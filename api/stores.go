package api

import "github.com/gin-gonic/gin"

func (s *Server) listStores(c *gin.Context) error {
	who := caller(c)
	stores, err := s.db.StoresOf(c.Request.Context(), who.Operator.ID, who.StoreID)
	if err != nil {
		return err
	}
	list := make([]storeView, len(stores))
	for i, store := range stores {
		list[i] = storeView{ID: store.ID.String(), Name: store.Name, Active: store.Active}
	}
	return ok(c, list)
}

type storeView struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
}
