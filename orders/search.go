package orders

import (
	"fmt"
	"slices"
	"strings"

	"despacho/internal/apperror"
	"despacho/internal/guidecode"
	"despacho/internal/textnorm"
	"despacho/models"
)

// searchText is the normalized text that searches match. Of an erased order erasedSearchText is
// left.
func searchText(o *models.Order) string {
	return textnorm.String(strings.Join([]string{erasedSearchText(o), o.RecipientName, o.RecipientPhone, o.DeliveryAddress}, " "))
}

// erasedSearchText is the part that does not tell who the recipient is: the two numbers of the
// order.
func erasedSearchText(o *models.Order) string {
	numbers := o.GuideCode
	if o.ExternalID != nil {
		numbers += " " + *o.ExternalID
	}
	return textnorm.String(numbers)
}

// maxSearchWords bounds the conditions of a search's statement; an address has fewer words.
const maxSearchWords = 20

// parseSearch returns the alternatives that a search matches, each with the normalized words that
// must all be found. Digits are a phone with any spacing, or a store's own number as it is
// written. What can be read as a guide code may still be something else.
func parseSearch(typed string) ([][]string, error) {
	folded := textnorm.String(typed)
	words := strings.Fields(folded)
	slices.Sort(words)
	words = slices.Compact(words)
	var alternatives [][]string
	switch compact := strings.ReplaceAll(folded, " ", ""); {
	case compact == "":
		return nil, nil
	case isDigits(compact):
		alternatives = [][]string{{compact}, {folded}}
	default:
		alternatives = [][]string{words}
	}
	if code, wellFormed := guidecode.Parse(typed); wellFormed {
		alternatives = append(alternatives, []string{textnorm.String(code)})
	}
	var wrong apperror.Fields
	if len(words) > maxSearchWords {
		wrong.Add("q", fmt.Sprintf("la búsqueda admite como máximo %d palabras", maxSearchWords))
	}
	return alternatives, wrong.Err()
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
