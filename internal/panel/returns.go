package panel

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
	"despacho/internal/textnorm"
	"despacho/models"
)

const (
	returnsPath = "/panel/devoluciones"
	// ownReturns stands for the operator's own orders in place of a store.
	ownReturns = "propios"
)

// returnsPage is what is on its way back to the stores. Of one store it is the list that is handed
// over.
type returnsPage struct {
	Stores []storeReturns
	// Chosen is the store whose packages are handed over; nil shows all stores.
	Chosen *storeReturns
	Form   *forms.Form
	Report *bulkReport
	// Receipt and WhatsApp tell the store what it got; empty where it got nothing.
	Receipt, WhatsApp string
	// Scanned is what a scan has found.
	Scanned *scannedReturn

	ticked map[uuid.UUID]bool
}

// storeReturns are the packages of one store.
type storeReturns struct {
	// Key names the store in addresses.
	Key, Name         string
	AtCounter, Street []*orders.View
	store             models.Store
}

// Path is the address of the store's list.
func (r storeReturns) Path() string {
	return withQuery(returnsPath, map[string]string{"tienda": r.Key})
}

// Orders are all packages, those that can be handed over first.
func (r storeReturns) Orders() []*orders.View { return slices.Concat(r.AtCounter, r.Street) }

// scannedReturn is the answer to a scan: the order that is ticked, or why none is.
type scannedReturn struct {
	Order  *orders.View
	Ticked bool
	Why    string
	// Receive means that the package has to be received first.
	Receive bool
}

// Ticked reports whether an order is to be handed over.
func (page *returnsPage) Ticked(id uuid.UUID) bool { return page.ticked[id] }

// InHand reports whether a package is at the counter.
func (page *returnsPage) InHand(order *orders.View) bool {
	return order.Status == models.StatusReceived
}

func (p *Pages) showReturns(v *Request) error {
	page, err := p.returns(v, v.Query("tienda"))
	if err != nil {
		return err
	}
	for _, id := range selectedIDs(v.QueryArray("id")) {
		page.ticked[id] = true
	}
	if typed := strings.TrimSpace(v.Query("codigo")); typed != "" && page.Chosen != nil {
		if page.Scanned, err = p.scanReturn(v, page, typed); err != nil {
			return err
		}
	}
	if isFragment(v) {
		return p.showPart(v, "returns", "scanned-return", page)
	}
	return p.show(v, http.StatusOK, "returns", "Por devolver", page)
}

// returns reads what is on its way back, by store.
func (p *Pages) returns(v *Request, chosen string) (*returnsPage, error) {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	page := &returnsPage{Form: returnsForm(), ticked: map[uuid.UUID]bool{}}
	groups := map[string]*storeReturns{ownReturns: {Key: ownReturns, Name: neworder.NoStore}}
	for _, store := range stores {
		groups[store.ID.String()] = &storeReturns{Key: store.ID.String(), Name: store.Name, store: store}
	}
	query := orders.Query{Substatuses: []models.Substatus{models.SubstatusReturning}}
	err = p.Orders.Each(v.Ctx(), v.Caller, query, func(order *orders.View) error {
		of := groups[cmp.Or(forms.IDValue(order.StoreID), ownReturns)]
		if page.InHand(order) {
			of.AtCounter = append(of.AtCounter, order)
		} else {
			of.Street = append(of.Street, order)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	page.Chosen = groups[chosen]
	for _, group := range groups {
		if len(group.AtCounter)+len(group.Street) > 0 {
			page.Stores = append(page.Stores, *group)
		}
	}
	slices.SortFunc(page.Stores, func(a, b storeReturns) int { return textnorm.Compare(a.Name, b.Name) })
	return page, nil
}

func returnsForm() *forms.Form {
	return &forms.Form{Action: returnsPath, Fields: []forms.Field{
		{Name: "note", Label: "Quién recibe", Kind: forms.Text},
	}}
}

// scanReturn ticks the package with a scanned code, or says why it is not handed over.
func (p *Pages) scanReturn(v *Request, page *returnsPage, typed string) (*scannedReturn, error) {
	order, problem, err := p.Orders.FindScanned(v.Ctx(), v.Caller, typed)
	if err != nil {
		return nil, err
	}
	if order == nil {
		return &scannedReturn{Why: truncate(typed, maxShownScan) + ": " + scanProblems[problem].Detail}, nil
	}
	scanned := &scannedReturn{Order: order}
	here := page.Chosen.Key == cmp.Or(forms.IDValue(order.StoreID), ownReturns)
	switch {
	case order.Substatus == nil || *order.Substatus != models.SubstatusReturning:
		scanned.Why = "no está por devolver: " + lowerFirst(cmp.Or(substatusLabel(order), order.StatusLabel)) + "."
	case !here:
		scanned.Why = "es de otra tienda."
	case !page.InHand(order):
		scanned.Why, scanned.Receive = "todavía está"+withRider(order)+": recíbalo primero.", true
	default:
		page.ticked[order.ID], scanned.Ticked = true, true
	}
	return scanned, nil
}

func substatusLabel(order *orders.View) string {
	if order.Substatus == nil {
		return ""
	}
	return order.Substatus.Label()
}

// handBackMany records that a store got its packages, and shows each result.
func (p *Pages) handBackMany(v *Request) error {
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	form := returnsForm()
	in, err := p.readForm(v, form)
	if err != nil {
		return err
	}
	ids := selectedIDs(values["id"])
	defer p.extendTimeout(v)()
	results, err := p.handBackTo(v, in, ids, values.Get("tienda"))
	if err != nil && !form.AddError(err) {
		return err
	}
	page, readErr := p.returns(v, values.Get("tienda"))
	if readErr != nil {
		return readErr
	}
	page.Form = form
	if err != nil {
		for _, id := range ids {
			page.ticked[id] = true
		}
		return p.show(v, http.StatusUnprocessableEntity, "returns", "Por devolver", page)
	}
	page.Report = returnResults.report("Entregado a la tienda", "Los entregados", results)
	for _, id := range page.Report.again {
		page.ticked[id] = true
	}
	page.tellStore(v, p)
	return p.show(v, http.StatusOK, "returns", "Por devolver", page)
}

// errOtherStore refuses to hand packages to a store that they are not of.
var errOtherStore = errors.New("a package of another store")

func (p *Pages) handBackTo(v *Request, in *jsonbody.Object, ids []uuid.UUID, store string) ([]orders.BulkResult, error) {
	note := in.Lines("note", models.MaxCancelNote)
	if err := in.Err(); err != nil {
		return nil, err
	}
	found, err := p.Orders.ByIDs(v.Ctx(), v.Caller, ids[:min(len(ids), orders.MaxBulk)])
	if err != nil {
		return nil, err
	}
	for _, order := range found {
		if cmp.Or(forms.IDValue(order.StoreID), ownReturns) != store {
			return nil, orders.ErrMoveRefused.Saying(order.GuideCode + " es de otra tienda.").Because(errOtherStore)
		}
	}
	return p.Orders.HandBackMany(v.Ctx(), v.Caller, ids, orEmpty(note))
}

// tellStore makes the receipt and the message about what was handed over.
func (page *returnsPage) tellStore(v *Request, p *Pages) {
	query := url.Values{}
	var packages []string
	for _, line := range page.Report.Settled {
		query.Add("id", line.ID.String())
		packages = append(packages, line.Order.GuideCode+" ("+line.Order.RecipientName+")")
	}
	if len(packages) == 0 {
		return
	}
	page.Receipt = returnReceiptPath + "?" + query.Encode()
	text := v.Operator().Name + " le devolvió " + format.Number(int64(len(packages))) + " " +
		format.Plural(len(packages), "paquete", "paquetes") + " el " +
		p.Clock.Now().In(v.Operator().TimeZone()).Format("02/01/2006 15:04") + ":\n" +
		strings.Join(packages[:min(len(packages), packagesInMessage)], "\n")
	if more := len(packages) - packagesInMessage; more > 0 {
		text += "\ny " + format.Number(int64(more)) + " más"
	}
	var contact string
	if page.Chosen != nil {
		contact = cmp.Or(orEmpty(page.Chosen.store.ContactWhatsApp), orEmpty(page.Chosen.store.ContactPhone))
	}
	page.WhatsApp = whatsAppTo(contact, text)
}

// packagesInMessage keeps a message short enough for an address.
const packagesInMessage = 40

// whatsAppTo is the address of a conversation that begins with a text. Without a number the person
// chooses with whom.
func whatsAppTo(number, text string) string {
	return "https://wa.me/" + strings.TrimPrefix(number, "+") + "?text=" + url.QueryEscape(text)
}
