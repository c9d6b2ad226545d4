package panel

import (
	"strings"

	"despacho/internal/money"
	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/internal/panel/neworder"
	"despacho/models"
)

// changeRow is one corrected field in the timeline.
type changeRow struct {
	Label    string
	Old, New changedValue
}

// changedValue is a value before or after a correction. Photo is the address of a photo, and
// Missing says why there is no text.
type changedValue struct{ Text, Photo, Missing string }

var correctedWords = map[models.CorrectedField]string{
	models.CorrectedPhone: "Teléfono", models.CorrectedAddress: "Dirección", models.CorrectedReference: "Referencia",
	models.CorrectedLocation: "Distrito",
	models.CorrectedMapsURL:  "Enlace de mapa", models.CorrectedPoint: "Punto", models.CorrectedNotes: "Notas",
	models.CorrectedAmount:  "Por cobrar",
	models.CorrectedPayment: "Pago", models.CorrectedSize: "Tamaño", models.CorrectedCost: "Tarifa",
	models.CorrectedCollected: "Cobrado", models.CorrectedMethods: "Formas de pago", models.CorrectedProof: "Foto",
}

// correctionWords describe a correction by the fields that its detail names.
func correctionWords(detail string) string {
	var labels []string
	for name := range strings.SplitSeq(detail, ", ") {
		if label := correctedWords[models.CorrectedField(name)]; label != "" {
			labels = append(labels, strings.ToLower(label))
		}
	}
	if len(labels) == 0 {
		return "Datos corregidos"
	}
	return "Se corrigió: " + strings.Join(labels, ", ")
}

func (p *Pages) changeRows(order *orders.View, corrections []models.Correction) []changeRow {
	var rows []changeRow
	for _, c := range corrections {
		missing := "vacío"
		if c.OldValue == nil && c.NewValue == nil {
			missing = "eliminado"
		}
		value := func(text *string) changedValue {
			shown := changedValue{Text: shownCorrection(order, c.Field, orEmpty(text)), Missing: missing}
			if text != nil && c.Field == models.CorrectedProof {
				shown.Text, shown.Photo = "foto", p.Orders.PhotoURL(*text)
			}
			return shown
		}
		row := changeRow{Label: correctedWords[c.Field], Old: value(c.OldValue), New: value(c.NewValue)}
		if row.Old.Photo != "" {
			row.Old.Text = "foto anterior"
		}
		rows = append(rows, row)
	}
	return rows
}

func shownCorrection(order *orders.View, field models.CorrectedField, text string) string {
	switch field {
	case models.CorrectedAmount, models.CorrectedCost, models.CorrectedCollected:
		if cents, err := money.Parse(text); err == nil {
			return format.Amount(cents, order.Currency)
		}
	case models.CorrectedPayment:
		return neworder.PaymentTypeName(text)
	}
	return text
}
