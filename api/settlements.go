package api

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/cash"
	"despacho/internal/orders"
)

type settlementPage struct {
	Settlements []cash.View `json:"settlements"`
	Total       int64       `json:"total"`
	Page        int         `json:"page"`
	Limit       int         `json:"limit"`
}

// settlementWithLines is a settlement with all of its lines.
type settlementWithLines struct {
	cash.View
	Lines []cash.LineView `json:"lines"`
}

// storeAsked is the store whose money the request asks for, nil for all of the operator's. There is
// none to be seen by a test key, nor of another store by a store's key.
func storeAsked(c *gin.Context, wrong *apperror.Fields) (storeID *uuid.UUID, seen bool) {
	who, asked := caller(c), idParameter(c, "store_id", wrong)
	if who.StoreID == nil {
		return asked, !who.Test
	}
	return who.StoreID, !who.Test && (asked == nil || *asked == *who.StoreID)
}

// listSettlements lists the settlements that the key may see, the latest first.
func (s *Server) listSettlements(c *gin.Context) error {
	var wrong apperror.Fields
	storeID, seen := storeAsked(c, &wrong)
	page := settlementPage{
		Settlements: []cash.View{},
		Page:        countParameter(c, "page", 1, &wrong),
		Limit:       min(countParameter(c, "limit", defaultPageSize, &wrong), orders.MaxPageSize),
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if !seen {
		return ok(c, page)
	}
	ctx, operator := c.Request.Context(), caller(c).Operator
	found, _, err := s.cash.Settlements(ctx, operator, storeID, page.Limit, (page.Page-1)*page.Limit)
	if err != nil {
		return err
	}
	for i := range found {
		page.Settlements = append(page.Settlements, found[i].View(operator))
	}
	if page.Total, err = s.cash.CountSettlements(ctx, operator, storeID); err != nil {
		return err
	}
	return ok(c, page)
}

func (s *Server) readSettlement(c *gin.Context) error {
	id, err := pathID(c, cash.ErrSettlementNotFound)
	if err != nil {
		return err
	}
	who := caller(c)
	if who.Test {
		return cash.ErrSettlementNotFound
	}
	found, err := s.cash.FindSettlement(c.Request.Context(), who.Operator, who.StoreID, id)
	if err != nil {
		return err
	}
	view := settlementWithLines{View: found.View(who.Operator), Lines: make([]cash.LineView, len(found.Lines))}
	for i := range found.Lines {
		view.Lines[i] = found.Lines[i].View()
	}
	return ok(c, view)
}

// readBalance says what the operator owes the key's store, or all of its stores.
func (s *Server) readBalance(c *gin.Context) error {
	var wrong apperror.Fields
	storeID, seen := storeAsked(c, &wrong)
	if err := wrong.Err(); err != nil {
		return err
	}
	operator := caller(c).Operator
	var balance cash.StoreBalance
	if seen {
		var err error
		if balance, err = s.cash.Balance(c.Request.Context(), operator, storeID); err != nil {
			return err
		}
	}
	return ok(c, balance.View(operator))
}
