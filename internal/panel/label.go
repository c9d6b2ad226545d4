package panel

import (
	"errors"
	"net/url"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/barcode"
	"despacho/internal/panel/format"
	"despacho/models"
)

// maxLabels is more than a page of the list has.
const maxLabels = 200

var (
	errNoLabels      = apperror.New(apperror.Invalid, "invalid_fields", "Marque los pedidos cuyas etiquetas quiere imprimir.")
	errTooManyLabels = apperror.New(apperror.Invalid, "invalid_fields",
		"Se imprimen 200 etiquetas como máximo a la vez: marque menos pedidos.")
)

// labelFormat is a paper format.
type labelFormat struct{ Name, Label string }

var (
	formatA6      = labelFormat{"a6", "A6 (105 × 148 mm)"}
	formatThermal = labelFormat{"termica", "Térmica (100 × 150 mm)"}
	labelFormats  = []labelFormat{formatA6, formatThermal}
)

// labelsPage is one sheet per order.
type labelsPage struct {
	Sheets  []labelSheet
	Formats []formatLink
	// Style is the style sheet of the paper format.
	Style string
	// Back is the list that the orders were ticked on.
	Back string
}

type formatLink struct {
	Label, Path string
	Current     bool
}

type labelSheet struct {
	*orders.Detail
	Destination string
	Day         string
	// Collect is the text about the amount to collect.
	Collect string
	// Fixed means that there is an amount to collect and that it is known.
	Fixed   bool
	Bars    *barcode.Drawing
	Square  *barcode.Drawing
	Address string
	// Texts is how the texts about the recipient are set.
	Texts labelTexts
}

// BarsWidth is the barcode's width on paper, in millimetres: half a millimetre per module, four
// dots of a common thermal printer.
func (s labelSheet) BarsWidth() float64 { return float64(s.Bars.Width) / 2 }

func labelsPath(ids []uuid.UUID, format labelFormat) string {
	query := url.Values{"formato": {format.Name}}
	for _, id := range ids {
		query.Add("id", id.String())
	}
	return "/panel/etiquetas?" + query.Encode()
}

func (p *Pages) printLabels(v *Request) error {
	ids, err := p.readLabelIDs(v)
	if errors.Is(err, orders.ErrOrderNotFound) {
		return err
	}
	if err != nil {
		return p.refused(v, p.lastList(v), err)
	}
	details, err := p.Orders.Details(v.Ctx(), v.Caller, ids)
	if err != nil {
		return err
	}
	format := readLabelFormat(v)
	page := labelsPage{Style: "label-" + format.Name + ".css", Back: p.lastList(v), Sheets: make([]labelSheet, len(details))}
	for _, known := range labelFormats {
		page.Formats = append(page.Formats, formatLink{known.Label, labelsPath(ids, known), known == format})
	}
	for i, detail := range details {
		if page.Sheets[i], err = p.labelOf(v, detail); err != nil {
			return err
		}
	}
	return p.showPart(v, "label", "labels", page)
}

// readLabelIDs reads which orders to print, without duplicates.
func (p *Pages) readLabelIDs(v *Request) ([]uuid.UUID, error) {
	if v.Query(allParameter) != "" {
		return p.matchingIDs(v, maxLabels)
	}
	var ids []uuid.UUID
	seen := map[uuid.UUID]bool{}
	for _, text := range v.QueryArray("id") {
		id, ok := jsonbody.ParseUUID(text)
		if !ok {
			return nil, orders.ErrOrderNotFound
		}
		if !seen[id] {
			ids, seen[id] = append(ids, id), true
		}
	}
	switch {
	case len(ids) == 0:
		return nil, errNoLabels
	case len(ids) > maxLabels:
		return nil, errTooManyLabels
	}
	return ids, nil
}

func readLabelFormat(v *Request) labelFormat {
	for _, known := range labelFormats {
		if v.Query("formato") == known.Name {
			return known
		}
	}
	return formatA6
}

func (p *Pages) labelOf(v *Request, order *orders.Detail) (labelSheet, error) {
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return labelSheet{}, err
	}
	sheet := labelSheet{
		Detail: order, Destination: destination(index, order.Location), Day: format.Day(order.OperativeDay),
		Address: p.trackingURL(order.GuideCode),
	}
	sheet.Texts = setLabelTexts(order.View, sheet.Destination)
	sheet.Collect, sheet.Fixed = collect(order.View)
	if sheet.Bars, err = barcode.Code128(order.GuideCode); err != nil {
		return labelSheet{}, err
	}
	sheet.Square, err = barcode.QR(sheet.Address)
	return sheet, err
}

// unfixed reports whether an order is paid on delivery with an amount that the store has not fixed.
func unfixed(order *orders.View) bool {
	return order.AmountToCollect == 0 && order.PaymentType == models.CashOnDelivery
}

// collect describes the amount to collect. An unknown amount is left to be written by hand.
func collect(order *orders.View) (words string, fixed bool) {
	switch {
	case order.AmountToCollect > 0:
		return "COBRAR " + format.Amount(order.AmountToCollect, order.Currency), true
	case unfixed(order):
		return "COBRAR " + format.CurrencySign(order.Currency) + "\u00a0________", false
	}
	return "NO COBRAR", false
}
