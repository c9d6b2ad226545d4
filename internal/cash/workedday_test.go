package cash_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/cash"
	"despacho/internal/clock"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
)

var update = flag.Bool("update", false, "write the figures of docs/caja.md")

const (
	workedDayFile  = "../../docs/caja.md"
	workedDayBegin = "<!-- The figures are computed by TestWorkedDay. -->\n"
	workedDayEnd   = "<!-- End of the figures. -->\n"
)

// The figures of the day that docs/caja.md tells are those of the service.
func TestWorkedDay(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(time.Date(2026, time.April, 1, 14, 0, 0, 0, time.UTC))
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		attempt, back := money.Cents(2_00), money.Cents(3_50)
		tenant := s.NewTenant(t, func(o *models.Operator) { o.Rules.AttemptFee, o.Rules.ReturnFee = &attempt, &back })
		d := &workedDay{t: t, s: s, tenant: tenant, cash: cash.New(s.App.DB, now),
			caller: cash.Caller{Operator: &tenant.Operator, UserID: uuid.New()}}
		figures := d.live()
		content, err := os.ReadFile(workedDayFile)
		require.NoError(t, err)
		before, rest, found := strings.Cut(string(content), workedDayBegin)
		require.True(t, found)
		written, after, found := strings.Cut(rest, workedDayEnd)
		require.True(t, found)
		if *update {
			require.NoError(t, os.WriteFile(workedDayFile, []byte(before+workedDayBegin+figures+workedDayEnd+after), 0o644))
			return
		}
		require.Equal(t, written, figures)
	})
}

// workedDay is the day of an operator with two riders and two stores.
type workedDay struct {
	t      *testing.T
	s      *apptest.Service
	tenant *apptest.Tenant
	cash   *cash.Service
	caller cash.Caller
}

// live makes the moves and the hand-ins of the day, and returns its figures.
func (d *workedDay) live() string {
	carlos, maria := d.tenant.Riders[0].ID, d.tenant.Riders[1].ID
	a, b := d.tenant.StoreA.ID, d.tenant.StoreB.ID
	part := func(method models.Method, amount money.Cents) models.Collection {
		return models.Collection{Method: method, Amount: amount}
	}
	d.deliver(a, carlos, part(models.PaidInCash, 120_00))
	d.deliver(a, carlos, part(models.PaidByYape, 80_50))
	d.deliver(b, carlos, part(models.PaidInCash, 60_00), part(models.PaidByCard, 40_00))
	d.deliver(a, carlos)
	corrected := d.deliver(a, maria, part(models.PaidInCash, 45_00))
	d.deliver(b, maria, part(models.PaidInCash, 200_00))
	returned := d.out(b, maria)
	d.move(returned, models.MoveFail, models.Message{Reason: "refused"})
	d.move(returned, models.MoveReturn, models.Message{})
	d.move(returned, models.MoveReceive, models.Message{})
	d.move(returned, models.MoveHandBack, models.Message{})

	var out strings.Builder
	fmt.Fprint(&out, "\nBefore anybody hands in:\n\n", d.due(carlos, maria))
	var handIns [][]string
	handIn := func(who string, rider uuid.UUID, request *cash.HandInRequest, seen ...models.Method) {
		due, err := d.cash.Due(d.t.Context(), d.caller.Operator, rider)
		require.NoError(d.t, err)
		request.Seen = map[cash.DueKey]bool{}
		for _, line := range due.OtherLines() {
			for _, method := range seen {
				request.Seen[line.Key()] = request.Seen[line.Key()] || line.Method == method
			}
		}
		in, _, err := d.cash.HandIn(d.t.Context(), d.caller, rider, request)
		require.NoError(d.t, err)
		cashIn, other := money.Cents(0), money.Cents(0)
		for _, of := range in.ByMethod {
			if of.Method == models.PaidInCash {
				cashIn += of.Amount
			} else {
				other += of.Amount
			}
		}
		kind := "closed"
		if in.OnAccount {
			kind = "on account"
		}
		handIns = append(handIns, []string{fmt.Sprint(in.Number), who, kind, cashIn.String(), other.String(), in.Difference.String()})
	}
	handIn("María", maria, &cash.HandInRequest{OnAccount: true, Counted: 150_00})
	in, err := jsonbody.Parse([]byte(`{"reason":"El motorizado escribió 45","actual_amount_collected":54}`))
	require.NoError(d.t, err)
	_, err = d.s.App.Orders.CorrectDelivery(d.t.Context(), orders.Caller{Operator: &d.tenant.Operator}, corrected, in, nil)
	require.NoError(d.t, err)
	handIn("Carlos", carlos, &cash.HandInRequest{Counted: 175_00, BorneBy: models.BorneByRider, Reason: "Dio mal el vuelto"}, models.PaidByYape)
	handIn("María", maria, &cash.HandInRequest{Counted: 104_00})
	fmt.Fprint(&out, "\nThe hand-ins:\n\n", table([]string{"hand-in", "rider", "", "cash", "other ways", "difference"}, handIns))
	fmt.Fprint(&out, "\nAfter them:\n\n", d.due(carlos, maria))

	var settled [][]string
	for _, store := range []models.Store{d.tenant.StoreA, d.tenant.StoreB} {
		draft, err := d.cash.Draft(d.t.Context(), d.caller.Operator, &store.ID, "2026-04-01")
		require.NoError(d.t, err)
		issued, err := d.cash.Issue(d.t.Context(), d.caller, &store.ID, "2026-04-01", draft.Net())
		require.NoError(d.t, err)
		settled = append(settled, []string{fmt.Sprint(issued.Number), store.Name, issued.Collected.String(), issued.Shipping.String(),
			issued.Fees.String(), issued.Net().String()})
		if store.ID == a {
			_, err = d.cash.Pay(d.t.Context(), d.caller, issued.ID, &cash.Payment{From: models.AccountTill})
			require.NoError(d.t, err)
		}
	}
	fmt.Fprint(&out, "\nThe settlements, of which the first is paid from the till:\n\n",
		table([]string{"settlement", "store", "collected", "shipping", "attempts and returns", "net"}, settled))
	day, err := d.cash.Today(d.t.Context(), d.caller.Operator)
	require.NoError(d.t, err)
	fmt.Fprint(&out, "\nAt the end of the day:\n\n", table([]string{"with riders", "in the till", "in the bank", "owed to stores", "earned"},
		[][]string{{day.Carried().String(), day.Till.String(), day.Bank.String(), day.Owed().String(), day.Earned().String()}}), "\n")
	return out.String()
}

func (d *workedDay) due(riders ...uuid.UUID) string {
	var rows [][]string
	for _, rider := range riders {
		due, err := d.cash.Due(d.t.Context(), d.caller.Operator, rider)
		require.NoError(d.t, err)
		name, _, _ := strings.Cut(due.Rider.Name, " ")
		rows = append(rows, []string{name, due.Cash().String(), due.Other().String(), due.Total().String()})
	}
	return table([]string{"rider", "cash", "other ways", "to hand in"}, rows)
}

func table(head []string, rows [][]string) string {
	var out strings.Builder
	for i, row := range append([][]string{head}, rows...) {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&out, "|%s\n", strings.Repeat(" --- |", len(head)))
		}
	}
	return out.String()
}

// out is an order that is with a rider.
func (d *workedDay) out(store, rider uuid.UUID) uuid.UUID {
	d.t.Helper()
	in, err := jsonbody.Parse([]byte(`{"recipient_name":"Rosa","recipient_phone":"+51987654321","delivery_address":"Av. Larco 345",
		"location_id":"` + apptest.Miraflores.String() + `","product":"Zapatillas"}`))
	require.NoError(d.t, err)
	created, err := d.s.App.Orders.Create(d.t.Context(), orders.Caller{Operator: &d.tenant.Operator, StoreID: &store}, in, "")
	require.NoError(d.t, err)
	id := created.Order.ID
	d.move(id, models.MoveReceive, models.Message{})
	d.move(id, models.MoveAssign, models.Message{RiderID: &rider})
	return id
}

func (d *workedDay) deliver(store, rider uuid.UUID, parts ...models.Collection) uuid.UUID {
	d.t.Helper()
	id, message := d.out(store, rider), models.Message{Collections: parts}
	if len(parts) > 0 {
		total := message.Collections.Total()
		message.ActualAmountCollected = &total
	}
	d.move(id, models.MoveDeliver, message)
	return id
}

func (d *workedDay) move(id uuid.UUID, name models.Move, message models.Message) {
	d.t.Helper()
	order, err := d.s.App.Orders.Find(d.t.Context(), orders.Caller{Operator: &d.tenant.Operator}, id)
	require.NoError(d.t, err)
	after, verdict := order.State().Decide(name, models.ByOperator, message.RiderID)
	require.Equal(d.t, models.Applied, verdict, name)
	result, err := d.s.App.Orders.Apply(d.t.Context(), workflows.ApplyMoveInput{OrderID: id, EntryID: uuid.New(), Seq: order.Seq + 1,
		Move: name, By: models.ByOperator, At: d.s.App.Clock().Now(), To: after.Status, Substatus: after.Substatus, Message: message})
	require.NoError(d.t, err)
	require.Empty(d.t, result.Refused)
}
