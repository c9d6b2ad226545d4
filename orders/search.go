package orders

import (
	"strings"

	"despacho/internal/guidecode"
	"despacho/internal/textnorm"
	"despacho/models"
)

// searchText is what an order is found by.
func searchText(o *models.Order) string {
	return textnorm.String(strings.Join([]string{o.GuideCode, o.RecipientName, o.RecipientPhone, o.DeliveryAddress}, " "))
}

// searchWords are the words that must all be found, as they stand in a search text.
func searchWords(typed string) []string {
	if code, wellFormed := guidecode.Parse(typed); wellFormed {
		return []string{textnorm.String(code)}
	}
	folded := textnorm.String(typed)
	if compact := strings.ReplaceAll(folded, " ", ""); isDigits(compact) {
		return []string{compact} // a phone number, however it was spaced
	}
	return strings.Fields(folded)
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
