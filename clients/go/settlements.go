package despacho

import (
	"context"
	"iter"
	"net/url"
)

// SettlementFilter chooses settlements; the zero value chooses all.
type SettlementFilter struct {
	// StoreID chooses one of an operator's stores.
	StoreID string
	// Limit is the length of a page; 0 is the longest.
	Limit int
}

// Settlements lists what the operator pays its stores, newest first, page after page, without the
// lines. An error ends the list.
func (c *Client) Settlements(ctx context.Context, filter SettlementFilter) iter.Seq2[Settlement, error] {
	return func(yield func(Settlement, error) bool) {
		each(yield, func(s Settlement) place { return place{s.Id, int64(s.Number)} }, func(number int) (page[Settlement], error) {
			var answer SettlementListResponse
			_, err := c.do(ctx, read("/v1/settlements", pageQuery(ofStore(filter.StoreID), number, filter.Limit)), &answer)
			return page[Settlement]{answer.Data.Settlements, answer.Data.Total, answer.Data.Limit}, err
		})
	}
}

// GetSettlement reads a settlement with its lines.
func (c *Client) GetSettlement(ctx context.Context, id string) (*SettlementDetail, error) {
	var answer SettlementResponse
	if _, err := c.do(ctx, read("/v1/settlements/"+url.PathEscape(id), nil), &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// Balance reads what the operator owes the key's store, or all of its stores. An operator's key may
// choose one by its id; the empty one chooses all.
func (c *Client) Balance(ctx context.Context, storeID string) (*Balance, error) {
	var answer BalanceResponse
	if _, err := c.do(ctx, read("/v1/balance", ofStore(storeID)), &answer); err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

func ofStore(id string) url.Values {
	query := url.Values{}
	if id != "" {
		query.Set("store_id", id)
	}
	return query
}
