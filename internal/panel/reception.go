package panel

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const (
	// receptionsShown is how many recent receptions are listed.
	receptionsShown = 12
	receptionPath   = "/panel/recepcion"
	// loadShown is how many packages of a rider are listed as missing.
	loadShown = 200
	// branchCookie stores the branch of the reception desk for a year.
	branchCookie    = "despacho_reception_branch"
	branchCookieAge = 365 * 24 * 60 * 60
)

// receptionPage is a field for a barcode scanner, and the result of the last scan.
type receptionPage struct {
	Branches []forms.Option
	Branch   string
	// Typed is put back into the field when it must be sent again.
	Typed  string
	Result *receptionResult
	Today  *orders.Receptions
	// Riders are those whose load can be taken back, Load the one that is.
	Riders []forms.Option
	Load   *riderLoad

	branchNames map[uuid.UUID]string
}

// BranchName is the branch that received a package.
func (p *receptionPage) BranchName(id uuid.UUID) string { return p.branchNames[id] }

// ChoosesBranch reports whether there are several branches.
func (p *receptionPage) ChoosesBranch() bool { return len(p.branchNames) > 1 }

// riderLoad is what a rider still has of the packages that are taken back.
type riderLoad struct {
	Rider   models.Rider
	Missing []*orders.View
	Total   int64
}

// Here is the address of the page, with the load that is taken back.
func (p *receptionPage) Here() string {
	if p.Load == nil {
		return receptionPath
	}
	return withQuery(receptionPath, map[string]string{"motorizado": p.Load.Rider.ID.String()})
}

func (p *Pages) showReception(v *Request) error {
	chosen, _ := v.Cookie(branchCookie) // without the cookie no branch is selected
	page, err := p.reception(v, chosen)
	if err == nil {
		err = p.chooseLoad(v, page, v.Query("motorizado"))
	}
	if err != nil {
		return err
	}
	return p.respondReception(v, http.StatusOK, page)
}

// reception is the page of a reception desk. Inactive branches and those of other operators are not
// offered.
func (p *Pages) reception(v *Request, chosen string) (*receptionPage, error) {
	branches, err := p.Operators.Branches().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	page := &receptionPage{Branches: []forms.Option{{Value: "", Label: "La prevista para cada pedido"}},
		branchNames: map[uuid.UUID]string{}}
	for _, branch := range branches {
		page.branchNames[branch.ID] = branch.Name
		if !branch.Active {
			continue
		}
		page.Branches = append(page.Branches, forms.Option{Value: branch.ID.String(), Label: branch.Name})
		if branch.ID.String() == chosen {
			page.Branch = chosen
		}
	}
	return page, nil
}

// chooseLoad sets the rider whose load is taken back; one that is not the operator's is none.
func (p *Pages) chooseLoad(v *Request, page *receptionPage, chosen string) error {
	riders, err := p.Operators.Riders().List(v.Ctx(), v.Operator())
	page.Riders = forms.Options("Elija un motorizado", riders,
		func(rider *models.Rider) (uuid.UUID, string) { return rider.ID, rider.Name })
	for _, rider := range riders {
		if rider.ID.String() == chosen {
			page.Load = &riderLoad{Rider: rider}
		}
	}
	return err
}

// readLoad reads what is missing of the load that is taken back.
func (p *Pages) readLoad(v *Request, page *receptionPage) error {
	if page.Load == nil {
		return nil
	}
	carried, err := p.Orders.List(v.Ctx(), v.Caller, orders.Query{
		Status: models.StatusAssigned, RiderID: &page.Load.Rider.ID, Page: 1, Limit: loadShown,
	})
	if err == nil {
		page.Load.Missing, page.Load.Total = carried.Orders, carried.Total
	}
	return err
}

// receive receives a package and shows the page for the next one.
func (p *Pages) receive(v *Request) error {
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	typed, chosen := strings.TrimSpace(values.Get("codigo")), values.Get("sucursal")
	page, err := p.reception(v, chosen)
	if err != nil {
		return err
	}
	if err := p.chooseLoad(v, page, values.Get("motorizado")); err != nil {
		return err
	}
	p.SetCookie(v.Context, branchCookie, page.Branch, branchCookieAge)
	scan := orders.Scan{Typed: typed, BranchID: optionalID(chosen), SentBefore: sentBefore(values.Get("hace"))}
	received, err := p.Orders.ReceiveByGuideCode(v.Ctx(), v.Caller, scan)
	if err == nil {
		if page.Result, err = p.resultOf(v, page, received, typed); err != nil {
			return err
		}
		return p.respondReception(v, http.StatusOK, page)
	}
	status, answer := notReceived(err, typed)
	if answer == nil {
		return err
	}
	page.Result, page.Typed = answer, typed
	return p.respondReception(v, status, page)
}

// sentBefore reads the milliseconds since a script first sent a scan to which it got no answer.
func sentBefore(given string) time.Duration {
	milliseconds, err := strconv.ParseInt(given, 10, 32)
	if err != nil {
		return 0 // the scan is sent for the first time
	}
	return time.Duration(milliseconds) * time.Millisecond
}

// respondReception shows the page, or only the changed part to a script.
func (p *Pages) respondReception(v *Request, status int, page *receptionPage) error {
	var err error
	if page.Today, err = p.Orders.ReceivedToday(v.Ctx(), v.Caller, receptionsShown); err != nil {
		return err
	}
	if err = p.readLoad(v, page); err != nil {
		return err
	}
	if isFragment(v) {
		return p.execute(v.Context, status, p.templates()["reception"], "reception_changes", p.frame(v, "", page))
	}
	return p.show(v, status, "reception", "Recepción", page)
}
