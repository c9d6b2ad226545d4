package panel

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/maplink"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/internal/panel/neworder"
	"despacho/internal/panel/summarycharts"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/workflows"
)

// deliveriesPerOrder is more than an order has, unless it has very many webhooks.
const deliveriesPerOrder = 100

// orderPage is the data of the order's page.
type orderPage struct {
	Order *orders.Detail
	// ForOperator shows what stores may not see.
	ForOperator bool
	// Facts are the fields of a creation, in the groups of its form.
	Facts         []neworder.Group
	Day, RiskZone string
	// Place is the district with its city, Collect what is to be collected, in words.
	Place, Collect string
	// WhatsApp is a conversation with the recipient.
	WhatsApp string
	// Identity is the result of the check of the recipient's DNI.
	Identity  *cell
	Point     *mapPoint
	PointForm *forms.Form
	GivenMap  givenMap
	Moves     orderMoves
	// Correct is the page that corrects the order, CorrectDelivery the form that corrects a delivery;
	// empty where the user may not.
	Correct         string
	CorrectDelivery *forms.Form
	// Draft is set when a form with a photo is shown again.
	Draft *photoDraft
	// Attempts are those that failed.
	Attempts   []attemptRow
	Timeline   []timelineRow
	Cancelled  *cancelledView
	Proof      *proofView
	Deliveries *deliveryList
	Erase      *forms.Form
	// AutoCancel is when the order is cancelled if it is not received.
	AutoCancel *time.Time
	// Recipient is the link by which the recipient decides about the next attempt; nil unless somebody
	// has to.
	Recipient *recipientLink
	// Links: back to the list, the tracking page, the label if the user may print one, and the order's
	// workflow.
	List, Tracking, Label, Workflow string
}

// recipientLink is the link of a recipient, to be copied or sent by WhatsApp.
type recipientLink struct{ Address, WhatsApp string }

func recipientLinkOf(v *Request, details *orders.OrderPage) *recipientLink {
	if details.RecipientLink == "" || !v.May(models.OrderWrite) {
		return nil
	}
	said := "Hola, no pudimos entregar su pedido " + details.Order.GuideCode + ". Elija aquí qué día volvemos: " + details.RecipientLink
	return &recipientLink{details.RecipientLink,
		"https://wa.me/" + strings.TrimPrefix(details.Order.RecipientPhone, "+") + "?text=" + url.QueryEscape(said)}
}

type mapPoint struct{ Coordinates, Source, Map string }

// givenMap is what the customer sent as a map link: the link in it, and the text where it is more
// than the link or has none.
type givenMap struct{ Link, Text string }

type cancelledView struct{ By, Reason, Note string }

type proofView struct {
	*orders.ProofView
	Point *mapPoint
}

func orderPath(id uuid.UUID) string { return ordersPath + "/" + id.String() }

func (p *Pages) showOrder(v *Request) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	details, err := p.Orders.OrderPage(v.Ctx(), v.Caller, id)
	if err != nil {
		return err
	}
	page, err := p.describeOrder(v, details)
	if err != nil {
		return err
	}
	return p.show(v, http.StatusOK, "order", "Pedido "+details.Order.GuideCode, page)
}

func pathOrder(v *Request) (uuid.UUID, error) { return pathID(v, orders.ErrOrderNotFound) }

func (p *Pages) describeOrder(v *Request, details *orders.OrderPage) (*orderPage, error) {
	order := details.Order
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return nil, err
	}
	place := destination(index, order.Location)
	page := &orderPage{
		Order: order, ForOperator: v.Caller.StoreID == nil, Day: format.Day(order.OperativeDay),
		RiskZone: orEmpty(details.RiskZone),
		Place:    place, WhatsApp: whatsApp(v.Operator(), order),
		Facts: otherFacts(neworder.Shown{
			View: order.View, Place: place,
			Store: cmp.Or(order.StoreName, neworder.NoStore), Branch: order.BranchName,
		}),
		Point:    pointOf(order.DeliveryLat, order.DeliveryLng, pointWords[orEmpty(details.PointSource)]),
		GivenMap: givenMapOf(orEmpty(order.DeliveryMapsURL)), Timeline: p.timelineOf(v, details), Attempts: attemptRows(v, details),
		CorrectDelivery: offerDeliveryCorrection(v, order), Cancelled: cancelledOf(v, order.Cancellation),
		Proof: proofOf(order.DeliveryProof), AutoCancel: details.AutoCancelAt, Erase: eraseFormFor(v, order), List: p.lastList(v),
		Recipient: recipientLinkOf(v, details),
		Tracking:  p.trackingURL(order.GuideCode),
	}
	if v.May(models.NewOrderRead) {
		page.Label = labelsPath([]uuid.UUID{order.ID}, formatA6)
	}
	if page.ForOperator {
		page.Workflow = p.workflowURL(order.ID)
		if order.RecipientDocNumber != nil && order.RecipientDocType != nil && *order.RecipientDocType == models.DocDNI {
			result := identityResult(order.RecipientDocVerified, details.DocOutcome, details.DocNameMatches)
			page.Identity = &result
		}
	}
	if v.May(models.OrderWrite) && orders.RequireCorrectable(v.Caller, order.Status) == nil {
		page.Correct = correctionPath(order.ID)
	}
	if v.May(models.DispatchWrite) && order.Status.Open() {
		page.PointForm = pointForm(order.ID)
	}
	if page.Moves, err = p.offerMoves(v, details); err != nil {
		return nil, err
	}
	page.Collect, _ = collect(order.View)
	page.Deliveries, err = p.deliveriesOf(v, webhooks.Filter{OrderID: &order.ID, Page: 1, Limit: deliveriesPerOrder},
		orderPath(order.ID))
	return page, err
}

// otherFacts are the fields of a creation that are not at the top of the page.
func otherFacts(shown neworder.Shown) []neworder.Group {
	groups := neworder.Facts(shown)
	for i := range groups {
		groups[i].Fields = slices.DeleteFunc(groups[i].Fields, func(f forms.Field) bool {
			return slices.Contains([]string{"recipient_name", "recipient_phone", "location_id", "delivery_address", "delivery_reference", "notes"},
				f.Name)
		})
	}
	return groups
}

// whatsApp is the address of a conversation with the recipient of an order, with a first sentence.
func whatsApp(operator *models.Operator, order *orders.Detail) string {
	return whatsAppTo(order.RecipientPhone, "Hola, le escribimos de "+operator.Name+" por su pedido "+order.GuideCode+".")
}

// Differs reports whether something else was collected than was agreed.
func (page *orderPage) Differs() bool {
	actual := page.Order.ActualAmountCollected
	return actual != nil && page.Order.PaymentType == models.CashOnDelivery && *actual != page.Order.AmountToCollect
}

// Collected are the ways of payment of a delivery in words, if the amount alone does not say it
// all.
func (page *orderPage) Collected() []string {
	var parts []string
	for _, part := range page.Order.Collections {
		words := part.Method.Label()
		if len(page.Order.Collections) > 1 {
			words += " " + format.Amount(part.Amount, page.Order.Currency)
		}
		if part.Reference != nil {
			words += ", operación " + *part.Reference
		}
		parts = append(parts, words)
	}
	return parts
}

// Endangered reports whether a form that cannot be undone has to be filled in again.
func (page *orderPage) Endangered() bool {
	return page.Moves.Cancel != nil && page.Moves.Cancel.Wrong() || page.Erase != nil && page.Erase.Wrong()
}

// destination writes out where an order goes: Miraflores, Lima.
func destination(index *catalog.Index, place orders.LocationRef) string {
	return cmp.Or(index.PathName(place.ID), place.Name)
}

func pointOf(lat, lng *float64, source string) *mapPoint {
	if lat == nil || lng == nil {
		return nil
	}
	coordinates := degrees(*lat) + "," + degrees(*lng)
	return &mapPoint{coordinates, source, "https://www.google.com/maps/search/?api=1&query=" + url.QueryEscape(coordinates)}
}

func givenMapOf(sent string) givenMap {
	link := maplink.WebLink(sent)
	if link == sent {
		return givenMap{Link: link}
	}
	return givenMap{link, sent}
}

func degrees(angle float64) string { return strconv.FormatFloat(angle, 'f', -1, 64) }

func cancelledOf(v *Request, why *orders.CancellationView) *cancelledView {
	if why == nil {
		return nil
	}
	view := &cancelledView{By: actorName(v, string(why.By)), Reason: summarycharts.CancelReason(orEmpty(why.Reason)),
		Note: orEmpty(why.Note)}
	if why.By == models.ByAuto {
		view.Reason = "El paquete no llegó a tiempo. Si llega, recíbalo: el pedido continúa."
	}
	return view
}

func proofOf(proof *orders.ProofView) *proofView {
	if proof == nil {
		return nil
	}
	return &proofView{proof, pointOf(proof.Lat, proof.Lng, "")}
}

func (p *Pages) trackingURL(guideCode string) string { return p.Config.BaseURL + "/track/" + guideCode }

// workflowURL is the order's workflow in the Temporal Web UI, if it is configured.
func (p *Pages) workflowURL(id uuid.UUID) string {
	if p.Config.TemporalUIURL == "" {
		return ""
	}
	return strings.TrimRight(p.Config.TemporalUIURL, "/") + "/namespaces/" + url.PathEscape(p.TemporalNamespace) +
		"/workflows/" + url.PathEscape(workflows.OrderWorkflowID(id))
}
