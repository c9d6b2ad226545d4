package db

import (
	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// OrderScope is what a caller may see: all of an operator's orders, or those of one store, either
// the live ones or the test orders.
type OrderScope struct {
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	Test       bool
}

// owned limits a query to the rows of a table that are the operator's and of the scope's mode.
// Every read and change of orders, webhooks or deliveries on behalf of a caller goes through it.
func (s OrderScope) owned(query *gorm.DB, table string) *gorm.DB {
	return query.Where(table+".operator_id = ? AND "+table+".test = ?", s.OperatorID, s.Test)
}

// Orders limits a query of orders to those that the caller may see.
func (s OrderScope) Orders(query *gorm.DB) *gorm.DB {
	query = s.owned(query, "orders")
	if s.StoreID != nil {
		query = query.Where("orders.store_id = ?", *s.StoreID)
	}
	return query
}

// visible is the order if Orders would select it, else nil. It takes nil for an order that was not
// found.
func (s OrderScope) visible(order *models.OrderView) *models.OrderView {
	if order == nil || order.OperatorID != s.OperatorID || order.Test != s.Test {
		return nil
	}
	if s.StoreID != nil && (order.StoreID == nil || *order.StoreID != *s.StoreID) {
		return nil
	}
	return order
}

// WebhookScope is what a caller may see and change: all of an operator's webhooks of one mode, or
// those of them that one of its stores registered.
type WebhookScope = OrderScope
