package panel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
	"despacho/internal/phone"
	"despacho/models"
)

const privacyPath = "/panel/privacidad"

// privacyPage has the form that finds a recipient's orders and, once a phone was sent, what would
// be erased.
type privacyPage struct {
	Form    *forms.Form
	Erasure *erasurePreview
}

// erasurePreview is what an erasure by phone does to which orders, before it is confirmed.
type erasurePreview struct {
	Phone  string
	Orders []erasedOrder
	// Erasable counts the orders of which something is erased.
	Erasable int
	// Seen identifies the orders and what happens to each.
	Seen string
	// Outdated means that this was confirmed for something else than what it is now.
	Outdated bool
}

// erasedOrder is an order of an erasurePreview.
type erasedOrder struct {
	orders.ErasureOrder
	Path string
}

// TimedOut reports whether the order cancelled itself.
func (o erasedOrder) TimedOut() bool { return o.State().Revivable() }

// Outcome says what is erased of the order.
func (o erasedOrder) Outcome() cell {
	switch {
	case o.Waits && !o.PhoneOnly && !o.Status.Ended():
		return cell{Text: "Nada todavía: sigue en curso", Style: "warn"}
	case o.Waits:
		return cell{Text: "Nada todavía: sus avisos se están enviando", Style: "warn"}
	case o.PhoneOnly:
		return cell{Text: "Solo este teléfono, que tuvo antes", Style: "bad"}
	}
	return cell{Text: "Los datos del destinatario", Style: "bad"}
}

func privacyForm() *forms.Form {
	return &forms.Form{Action: privacyPath, Submit: "Ver sus pedidos", Fields: []forms.Field{
		{Name: "phone", Label: "Teléfono del destinatario", Kind: forms.Phone, Required: true,
			Hint: "El de los pedidos que recibió. Antes de eliminar nada verá cuáles son."},
	}}
}

func (p *Pages) showPrivacy(v *Request) error {
	return p.showErasure(v, http.StatusOK, privacyPage{Form: privacyForm()})
}

func (p *Pages) showErasure(v *Request, status int, page privacyPage) error {
	return p.show(v, status, "privacy", "Datos personales", page)
}

// eraseByPhone shows what would be erased. It is erased once that was confirmed and is still the
// same.
func (p *Pages) eraseByPhone(v *Request) error {
	defer p.extendTimeout(v)()
	page := privacyPage{Form: privacyForm()}
	return p.handle(v, page.Form, func(in *jsonbody.Object) error {
		number := phone.Read(in, "phone", v.Operator().CountryCode)
		if err := in.Err(); err != nil {
			return err
		}
		found, err := p.Orders.FindForErasure(v.Ctx(), v.Operator(), number)
		if err != nil {
			return err
		}
		preview := newErasurePreview(number, found)
		if confirmed := v.PostForm(forms.SeenName); confirmed == "" || confirmed != preview.Seen {
			preview.Outdated = confirmed != ""
			page.Erasure = preview
			return p.showErasure(v, http.StatusOK, page)
		}
		outcome, err := p.Orders.EraseFound(v.Ctx(), number, found)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("Pedidos cuyos datos se eliminaron: %d.", outcome.Erased)
		if outcome.Open > 0 {
			text += fmt.Sprintf(" Todavía en curso: %d; elimínelos cuando terminen.", outcome.Open)
		}
		return p.done(v, privacyPath, text)
	}, func(status int) error { return p.showErasure(v, status, page) })
}

func newErasurePreview(number string, found []orders.ErasureOrder) *erasurePreview {
	preview := &erasurePreview{Phone: number, Orders: make([]erasedOrder, len(found))}
	sum := sha256.New()
	for i, order := range found {
		preview.Orders[i] = erasedOrder{order, orderPath(order.ID)}
		fmt.Fprintln(sum, number, order.ID, order.Seq, order.PhoneOnly, order.Waits)
		if !order.Waits {
			preview.Erasable++
		}
	}
	preview.Seen = hex.EncodeToString(sum.Sum(nil))
	return preview
}

func eraseForm(id uuid.UUID) *forms.Form {
	return &forms.Form{Action: orderPath(id) + "/eliminar-datos", Submit: "Eliminar los datos", Danger: true}
}

// eraseFormFor is the form to erase an order's data, nil where the user may not.
func eraseFormFor(v *Request, order *orders.Detail) *forms.Form {
	if !order.Status.Ended() || order.Erased || !v.May(models.AdminWrite) {
		return nil
	}
	return eraseForm(order.ID)
}

func (p *Pages) eraseOrder(v *Request) error {
	return p.runAction(v, eraseForm, func(order *models.OrderView, _ *jsonbody.Object) (string, error) {
		_, err := p.Orders.Erase(v.Ctx(), v.Operator(), order.ID)
		return "Los datos del destinatario se eliminaron.", err
	})
}
