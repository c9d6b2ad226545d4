package orders

import (
	"strings"

	"despacho/internal/guidecode"
	"despacho/internal/textnorm"
	"despacho/models"
)

// searchText is the normalized text that searches match.
func searchText(o *models.Order) string {
	return textnorm.String(strings.Join([]string{o.GuideCode, o.RecipientName, o.RecipientPhone, o.DeliveryAddress}, " "))
}

// searchWords are the normalized words that must all match.
func searchWords(typed string) []string {
	if code, wellFormed := guidecode.Parse(typed); wellFormed {
		return []string{textnorm.String(code)}
	}
	folded := textnorm.String(typed)
	if compact := strings.ReplaceAll(folded, " ", ""); isDigits(compact) {
		return []string{compact} // a phone number with any spacing
	}
	return strings.Fields(folded)
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
