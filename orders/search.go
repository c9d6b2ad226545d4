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

// searchText is the normalized text that searches match.
func searchText(o *models.Order) string {
	return textnorm.String(strings.Join([]string{o.GuideCode, o.RecipientName, o.RecipientPhone, o.DeliveryAddress}, " "))
}

// maxSearchWords bounds the conditions of a search's statement; an address has fewer words.
const maxSearchWords = 20

// searchWords are the normalized words that must all match, each once.
func searchWords(typed string) ([]string, error) {
	if code, wellFormed := guidecode.Parse(typed); wellFormed {
		return []string{textnorm.String(code)}, nil
	}
	folded := textnorm.String(typed)
	if compact := strings.ReplaceAll(folded, " ", ""); isDigits(compact) {
		return []string{compact}, nil // a phone number with any spacing
	}
	words := strings.Fields(folded)
	slices.Sort(words)
	words = slices.Compact(words)
	var wrong apperror.Fields
	if len(words) > maxSearchWords {
		wrong.Add("q", fmt.Sprintf("la búsqueda admite como máximo %d palabras", maxSearchWords))
	}
	return words, wrong.Err()
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
