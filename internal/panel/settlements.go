package panel

import (
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/cash"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
	"despacho/models"
)

const (
	settlementsPath = "/panel/liquidaciones"
	draftPath       = settlementsPath + "/nueva"
	// settlementsShown is how many settlements a page lists, linesShown how many orders of one.
	settlementsShown = 50
	linesShown       = 500
)

// settlementsPage lists the settlements that the user may see.
type settlementsPage struct {
	Settlements []cash.Settlement
	// Balance is what the user's store is owed; nil for the operator.
	Balance *cash.StoreBalance
	Pager   *pageLinks
}

// pageLinks lead to the pages of a list whose length is not known.
type pageLinks struct{ Newer, Older string }

func (p *Pages) listSettlements(v *Request) error {
	number, err := strconv.Atoi(v.Query("pagina"))
	if err != nil || number < 1 || number > 10_000 {
		number = 1
	}
	page := &settlementsPage{Pager: &pageLinks{}}
	var more bool
	page.Settlements, more, err = p.Cash.Settlements(v.Ctx(), v.Operator(), v.Caller.StoreID, settlementsShown, (number-1)*settlementsShown)
	if err != nil {
		return err
	}
	at := func(number int) string {
		return withQuery(settlementsPath, map[string]string{"pagina": strconv.Itoa(number)})
	}
	if number > 1 {
		page.Pager.Newer = at(number - 1)
	}
	if more {
		page.Pager.Older = at(number + 1)
	}
	if v.Caller.StoreID != nil {
		balance, err := p.Cash.Balance(v.Ctx(), v.Operator(), v.Caller.StoreID)
		if err != nil {
			return err
		}
		page.Balance = &balance
	}
	return p.show(v, http.StatusOK, "settlements", "Liquidaciones", page)
}

// settlementPage is a settlement, or what one would be.
type settlementPage struct {
	*cash.Settlement
	Shown []cash.SettlementLine
	// More is how many lines are not shown.
	More int
	// Form issues a draft, or says how a settlement was paid.
	Form *forms.Form
	// Until chooses the last day of a draft, which is at most Today.
	Until, Today string
}

// Draft reports whether the settlement is not issued.
func (page *settlementPage) Draft() bool { return page.Number == 0 }

// Payable reports whether the settlement can be paid.
func (page *settlementPage) Payable() bool { return page.Status == models.SettlementIssued }

// Key names the store in addresses.
func (page *settlementPage) Key() string { return storeKey(page.StoreID) }

// Name is the name of the store.
func (page *settlementPage) Name() string {
	if page.StoreID == nil {
		return neworder.NoStore
	}
	return page.StoreName
}

func newSettlementPage(settled *cash.Settlement, form *forms.Form) *settlementPage {
	shown := settled.Lines[:min(len(settled.Lines), linesShown)]
	return &settlementPage{Settlement: settled, Shown: shown, More: len(settled.Lines) - len(shown), Form: form}
}

// draftQuery is which settlement is to be made.
type draftQuery struct {
	store *uuid.UUID
	to    string
}

var errWrongDay = apperror.New(apperror.Invalid, "invalid_fields", "El día no es válido: elija uno hasta hoy.")

func (p *Pages) readDraftQuery(v *Request, store, until string) (query draftQuery, err error) {
	today := p.Clock.Now().In(v.Operator().TimeZone()).Format(time.DateOnly)
	if query.to = until; until == "" {
		query.to = today
	}
	if _, err := time.Parse(time.DateOnly, query.to); err != nil || query.to > today {
		return query, errWrongDay
	}
	if store != ownReturns {
		id, valid := jsonbody.ParseUUID(store)
		if !valid {
			return query, cash.ErrStoreNotFound
		}
		query.store = &id
	}
	return query, nil
}

func (p *Pages) showDraft(v *Request) error {
	query, err := p.readDraftQuery(v, v.Query("tienda"), v.Query("hasta"))
	if err != nil {
		return err
	}
	return p.showDraftOf(v, http.StatusOK, query, nil)
}

func (p *Pages) showDraftOf(v *Request, status int, query draftQuery, wrong error) error {
	draft, err := p.Cash.Draft(v.Ctx(), v.Operator(), query.store, query.to)
	if err != nil {
		return err
	}
	form := &forms.Form{Action: draftPath, Submit: "Emitir la liquidación", Fields: []forms.Field{
		{Name: "tienda", Kind: forms.Hidden, Value: storeKey(query.store)},
		{Name: "hasta", Kind: forms.Hidden, Value: query.to},
		{Name: "neto", Kind: forms.Hidden, Value: strconv.FormatInt(int64(draft.Net()), 10)},
	}}
	if wrong != nil {
		form.AddError(wrong)
	}
	page := newSettlementPage(draft, form)
	page.Until, page.Today = query.to, p.Clock.Now().In(v.Operator().TimeZone()).Format(time.DateOnly)
	return p.show(v, status, "settlement", "Liquidar a "+page.Name(), page)
}

// storeKey names a store in addresses.
func storeKey(store *uuid.UUID) string {
	if store == nil {
		return ownReturns
	}
	return store.String()
}

func (p *Pages) issueSettlement(v *Request) error {
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	query, err := p.readDraftQuery(v, values.Get("tienda"), values.Get("hasta"))
	if err != nil {
		return err
	}
	seen, err := strconv.ParseInt(values.Get("neto"), 10, 64)
	if err != nil {
		return p.showDraftOf(v, http.StatusConflict, query, cash.ErrAmountsChanged)
	}
	defer p.extendTimeout(v)()
	settled, err := p.Cash.Issue(v.Ctx(), cashier(v), query.store, query.to, money.Cents(seen))
	if err != nil && apperror.From(err).Kind == apperror.Conflict {
		return p.showDraftOf(v, http.StatusConflict, query, err)
	}
	if err != nil {
		return err
	}
	return p.done(v, settlementsPath+"/"+settled.ID.String(), "Liquidación "+strconv.Itoa(settled.Number)+" emitida.")
}

func paymentForm(id uuid.UUID) *forms.Form {
	return &forms.Form{Action: settlementsPath + "/" + id.String() + "/pagar", Submit: "Marcar como pagada", Fields: []forms.Field{
		{Name: "paid_from", Label: "De dónde salió", Kind: forms.Choice, Required: true, Options: []forms.Option{
			{Value: "bank", Label: "Del banco"}, {Value: "till", Label: "De la caja, en efectivo"},
		}},
		{Name: "reference", Label: "Número de la operación", Kind: forms.Text, Hint: "Obligatorio si salió del banco. La tienda lo ve."},
	}}
}

// settlementOf reads the settlement of the request, if the user may see it.
func (p *Pages) settlementOf(v *Request) (*cash.Settlement, error) {
	id, err := pathID(v, cash.ErrSettlementNotFound)
	if err != nil {
		return nil, err
	}
	return p.Cash.FindSettlement(v.Ctx(), v.Operator(), v.Caller.StoreID, id)
}

func (p *Pages) showSettlement(v *Request) error {
	settled, err := p.settlementOf(v)
	if err != nil {
		return err
	}
	return p.showSettlementWith(v, http.StatusOK, settled, paymentForm(settled.ID))
}

func (p *Pages) showSettlementWith(v *Request, status int, settled *cash.Settlement, form *forms.Form) error {
	return p.show(v, status, "settlement", "Liquidación "+strconv.Itoa(settled.Number), newSettlementPage(settled, form))
}

func (p *Pages) paySettlement(v *Request) error {
	settled, err := p.settlementOf(v)
	if err != nil {
		return err
	}
	if settled.Status == models.SettlementPaid {
		return p.refused(v, settlementsPath+"/"+settled.ID.String(), cash.ErrAlreadyPaid)
	}
	form := paymentForm(settled.ID)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		payment, err := cash.ReadPayment(in)
		if err == nil {
			_, err = p.Cash.Pay(v.Ctx(), cashier(v), settled.ID, payment)
		}
		if err != nil {
			return err
		}
		return p.done(v, settlementsPath+"/"+settled.ID.String(), "Pago guardado.")
	}, func(status int) error { return p.showSettlementWith(v, status, settled, form) })
}

// downloadSettlement sends the lines of a settlement as a file.
func (p *Pages) downloadSettlement(v *Request) error {
	settled, err := p.settlementOf(v)
	if err != nil {
		return err
	}
	rows := [][]string{{"Guía", "Pedido de la tienda", "Entregado", "Cobrado", "Envío", "Intentos y devolución", "Ajuste", "Neto", "Corregido"}}
	zone := v.Operator().TimeZone()
	for _, line := range settled.Lines {
		delivered, again := "", ""
		if line.DeliveredAt != nil {
			delivered = line.DeliveredAt.In(zone).Format("2006-01-02 15:04")
		}
		if line.Again {
			again = "sí"
		}
		rows = append(rows, []string{line.GuideCode, orEmpty(line.ExternalID), delivered, line.Collected.String(), line.Shipping.String(),
			line.Fees.String(), line.Adjustments.String(), line.Net().String(), again})
	}
	return sendCSV(v, "liquidacion-"+strconv.Itoa(settled.Number)+".csv", rows, csvfile.Semicolon)
}
