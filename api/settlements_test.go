package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/internal/money"
	"despacho/models"
	"despacho/test/apptest"
)

// cashier hands in and settles for the operator of a tenant.
type cashier struct {
	t      *testing.T
	s      *apptest.Service
	tenant *apptest.Tenant
	cash   *cash.Service
	cash.Caller
}

func newCashier(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) cashier {
	t.Helper()
	return cashier{t, s, tenant, cash.New(s.App.DB, s.App.Clock()), cash.Caller{Operator: &tenant.Operator, UserID: uuid.New()}}
}

// handIn has the first rider hand in what is counted; the operator bears a difference.
func (c cashier) handIn(counted money.Cents) {
	c.t.Helper()
	_, _, err := c.cash.HandIn(c.t.Context(), c.Caller, c.tenant.Riders[0].ID,
		&cash.HandInRequest{Counted: counted, BorneBy: models.BorneByOperator, Reason: "Cierre"})
	require.NoError(c.t, err)
}

// adjust gives a store an amount by hand.
func (c cashier) adjust(store models.Store, amount money.Cents) {
	c.t.Helper()
	err := c.cash.Adjust(c.t.Context(), c.Caller, &cash.Adjustment{Kind: cash.AdjustStore, OwnerID: store.ID, Amount: amount, Reason: "Acuerdo"})
	require.NoError(c.t, err)
}

// settle issues a settlement of everything until today; nil is the operator's own.
func (c cashier) settle(storeID *uuid.UUID) *cash.Settlement {
	c.t.Helper()
	today := c.s.App.Clock().Now().In(c.tenant.Operator.TimeZone()).Format(time.DateOnly)
	draft, err := c.cash.Draft(c.t.Context(), c.Operator, storeID, today)
	require.NoError(c.t, err)
	settled, err := c.cash.Issue(c.t.Context(), c.Caller, storeID, today, draft.Net())
	require.NoError(c.t, err)
	return settled
}

// requireMembers checks members of an object, and that it has no others.
func requireMembers(t *testing.T, expected fields, got any) {
	t.Helper()
	require.Equal(t, map[string]any(expected), got)
}

// What a rider collects goes from pending to unsettled when it is handed in, to unpaid when it is
// settled, and is gone when it is paid. What is corrected afterwards is in the next settlement.
func TestSettlements_fromTheDoorToTheBank(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		o := newOuting(t, s, fields{"payment_type": "cash_on_delivery", "amount_to_collect": 50, "external_id": "V-1"})
		c := newCashier(t, s, o.tenant)
		requireBalance := func(pending, unsettled, unpaid, total float64) {
			t.Helper()
			requireMembers(t, fields{"pending": pending, "unsettled": unsettled, "unpaid": unpaid, "total": total, "currency": "PEN"},
				get(t, s, o.tenant.KeyA, "/v1/balance").Data)
		}
		requireBalance(0, 0, 0, 0)
		o.move("deliver", fields{"actual_amount_collected": 50})
		requireBalance(50, -9, 0, 41)
		c.handIn(5000)
		requireBalance(0, 41, 0, 41)
		c.adjust(o.tenant.StoreA, 350)
		settled := c.settle(&o.tenant.StoreA.ID)
		requireBalance(0, 0, 44.5, 44.5)

		path := "/v1/settlements/" + settled.ID.String()
		order := o.read()
		read := get(t, s, o.tenant.KeyA, path)
		day := settled.PeriodTo
		issued := fields{"id": settled.ID.String(), "number": 1.0, "status": "issued", "store_id": o.tenant.StoreA.ID.String(), "period_from": day,
			"period_to": day, "collected": 50.0, "shipping": 9.0, "fees": 0.0, "adjustments": 3.5, "net": 44.5, "currency": "PEN",
			"issued_at": settled.IssuedAt.UTC().Format(time.RFC3339Nano), "paid_at": nil, "reference": nil}
		listed := get(t, s, o.tenant.KeyA, "/v1/settlements")
		requireMembers(t, fields{"settlements": []any{map[string]any(issued)}, "total": 1.0, "page": 1.0, "limit": 50.0}, listed.Data)
		lines := objects(t, read.Data["lines"].([]any))
		delete(read.Data, "lines")
		requireMembers(t, issued, read.Data)
		byOrder := map[any]map[string]any{}
		for _, line := range lines {
			byOrder[line["order_id"]] = line
		}
		require.Len(t, lines, 2)
		requireMembers(t, fields{"order_id": o.id, "external_id": "V-1", "guide_code": order.String("guide_code"),
			"delivered_at": order.String("delivered_at"), "collected": 50.0, "shipping": 9.0, "fees": 0.0, "adjustments": 0.0, "net": 41.0,
			"corrected": false}, byOrder[o.id])
		requireMembers(t, fields{"order_id": nil, "external_id": nil, "guide_code": nil, "delivered_at": nil, "collected": 0.0, "shipping": 0.0,
			"fees": 0.0, "adjustments": 3.5, "net": 3.5, "corrected": false}, byOrder[nil])

		reference := "OP-77"
		_, err := c.cash.Pay(t.Context(), c.Caller, settled.ID, &cash.Payment{From: models.AccountBank, Reference: &reference})
		require.NoError(t, err)
		paid := get(t, s, o.tenant.KeyA, path)
		require.Equal(t, []any{"paid", "OP-77"}, []any{paid.Data["status"], paid.Data["reference"]})
		require.NotEmpty(t, paid.String("paid_at"))
		requireBalance(0, 0, 0, 0)

		o.move("delivery-correction", fields{"actual_amount_collected": 45, "reason": "Cobró menos"})
		requireBalance(-5, 0, 0, -5)
		c.handIn(0)
		again := c.settle(&o.tenant.StoreA.ID)
		corrected := get(t, s, o.tenant.KeyA, "/v1/settlements/"+again.ID.String())
		require.Equal(t, -5.0, corrected.Data["net"], "the store owes it")
		require.Equal(t, true, objects(t, corrected.Data["lines"].([]any))[0]["corrected"])
	})
}

// A store sees its own settlements and balance, an operator those of all its stores and its own,
// another operator none of them, and a test key none at all.
func TestSettlements_whoSeesThem(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		c := newCashier(t, s, tenant)
		c.adjust(tenant.StoreA, 100)
		c.adjust(tenant.StoreB, 200)
		c.adjust(models.Store{}, 400)
		a, b, own := c.settle(&tenant.StoreA.ID), c.settle(&tenant.StoreB.ID), c.settle(nil)
		numbers := func(key, query string) []any {
			t.Helper()
			list := get(t, s, key, "/v1/settlements"+query)
			require.Equal(t, http.StatusOK, list.Status, list.Text)
			require.EqualValues(t, len(list.Data["settlements"].([]any)), list.Data["total"])
			return column(objects(t, list.Data["settlements"].([]any)), "number")
		}
		owed := func(key, query string) any {
			t.Helper()
			return get(t, s, key, "/v1/balance"+query).Data["total"]
		}
		onlyA, onlyB := "?store_id="+tenant.StoreA.ID.String(), "?store_id="+tenant.StoreB.ID.String()
		testKey := tenant.NewKey(t, models.APIKey{Test: true})
		testKeyA := tenant.NewKey(t, models.APIKey{Test: true, StoreID: &tenant.StoreA.ID})
		for _, seen := range []struct {
			key, query string
			numbers    []any
			owed       float64
		}{
			{tenant.Key, "", []any{3.0, 2.0, 1.0}, 7}, {tenant.Key, onlyA, []any{1.0}, 1}, {tenant.Key, onlyB, []any{2.0}, 2},
			{tenant.KeyA, "", []any{1.0}, 1}, {tenant.KeyA, onlyA, []any{1.0}, 1}, {tenant.KeyA, onlyB, []any{}, 0},
			{tenant.KeyB, "", []any{2.0}, 2}, {stranger.Key, "", []any{}, 0}, {stranger.Key, onlyA, []any{}, 0}, {stranger.KeyA, onlyA, []any{}, 0},
			{testKey, "", []any{}, 0}, {testKey, onlyA, []any{}, 0}, {testKeyA, "", []any{}, 0},
		} {
			require.Equal(t, seen.numbers, numbers(seen.key, seen.query), seen.query)
			require.Equal(t, seen.owed, owed(seen.key, seen.query), seen.query)
		}
		for _, key := range []string{tenant.KeyA, tenant.KeyB, tenant.Key, stranger.Key, stranger.KeyA, testKey, testKeyA} {
			for _, settled := range []*cash.Settlement{a, b, own} {
				read := get(t, s, key, "/v1/settlements/"+settled.ID.String())
				if key == tenant.Key || key == tenant.KeyA && settled == a || key == tenant.KeyB && settled == b {
					require.Equal(t, http.StatusOK, read.Status, read.Text)
					continue
				}
				requireRefused(t, read, http.StatusNotFound, "settlement_not_found")
				require.Equal(t, "La liquidación no existe.", read.Error)
			}
		}
		requireRefused(t, get(t, s, tenant.Key, "/v1/settlements/1"), http.StatusNotFound, "settlement_not_found")
	})
}

// The list has pages as others have; one beyond the end is empty.
func TestSettlements_pages(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		c := newCashier(t, s, tenant)
		for i := range 5 {
			c.adjust(tenant.StoreA, money.Cents(100+i))
			c.settle(&tenant.StoreA.ID)
		}
		for page, numbers := range map[int][]any{1: {5.0, 4.0}, 2: {3.0, 2.0}, 3: {1.0}, 4: {}} {
			list := get(t, s, tenant.KeyA, fmt.Sprintf("/v1/settlements?limit=2&page=%d", page))
			require.Equal(t, []any{5.0, float64(page), 2.0}, []any{list.Data["total"], list.Data["page"], list.Data["limit"]})
			require.Equal(t, numbers, column(objects(t, list.Data["settlements"].([]any)), "number"))
		}
		require.EqualValues(t, 200, get(t, s, tenant.KeyA, "/v1/settlements?limit=100000").Data["limit"])
		requireWrongFields(t, get(t, s, tenant.KeyA, "/v1/settlements?limit=0&page=x&store_id=1"), "store_id", "page", "limit")
		requireWrongFields(t, get(t, s, tenant.KeyA, "/v1/balance?store_id=1"), "store_id")
	})
}
