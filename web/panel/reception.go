package panel

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"despacho/orders"
)

const (
	// receptionsShown is how far back a person at the counter looks.
	receptionsShown = 12
	// branchCookie remembers which branch a counter stands in, for a year.
	branchCookie    = "despacho_reception_branch"
	branchCookieAge = 365 * 24 * 60 * 60
)

// receptionPage is one field for a barcode reader, and what came of the last scan.
type receptionPage struct {
	Branches []option
	Branch   string
	// Typed is put back into the field where it has to be sent again.
	Typed  string
	Answer *receptionAnswer
	Today  *orders.Receptions

	branchNames map[uuid.UUID]string
}

// BranchName is where a package was taken in.
func (p *receptionPage) BranchName(id uuid.UUID) string { return p.branchNames[id] }

// ChoosesBranch reports whether there is a choice.
func (p *receptionPage) ChoosesBranch() bool { return len(p.branchNames) > 1 }

func (p *Pages) showReception(v *Request) error {
	chosen, _ := v.Cookie(branchCookie) // without one nothing is chosen
	page, err := p.reception(v, chosen)
	if err != nil {
		return err
	}
	return p.answerReception(v, http.StatusOK, page)
}

// reception is the page of a counter. A branch that is not the operator's, or is not in use any
// more, is not offered.
func (p *Pages) reception(v *Request, chosen string) (*receptionPage, error) {
	branches, err := p.Operators.Branches(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	page := &receptionPage{Branches: []option{{"", "La prevista para cada pedido"}}, branchNames: map[uuid.UUID]string{}}
	for _, branch := range branches {
		page.branchNames[branch.ID] = branch.Name
		if !branch.Active {
			continue
		}
		page.Branches = append(page.Branches, option{branch.ID.String(), branch.Name})
		if branch.ID.String() == chosen {
			page.Branch = chosen
		}
	}
	return page, nil
}

// receive takes a package in and answers with the page, ready for the next one.
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
	p.setCookie(v.Context, branchCookie, page.Branch, branchCookieAge)
	received, err := p.Orders.ReceiveByGuideCode(v.Ctx(), v.Caller, typed, optionalID(chosen))
	if err == nil {
		page.Answer = page.answerTo(v, received, typed)
		return p.answerReception(v, http.StatusOK, page)
	}
	status, answer := notReceived(err, typed)
	if answer == nil {
		return err
	}
	page.Answer, page.Typed = answer, typed
	return p.answerReception(v, status, page)
}

// answerReception shows the page; to a script, what changed of it.
func (p *Pages) answerReception(v *Request, status int, page *receptionPage) error {
	var err error
	if page.Today, err = p.Orders.ReceivedToday(v.Ctx(), v.Caller, receptionsShown); err != nil {
		return err
	}
	if isFragment(v) {
		return p.execute(v.Context, status, p.templates()["reception"], "reception_changes", p.frame(v, "", page))
	}
	return p.show(v, status, "reception", "Recepción", page)
}
