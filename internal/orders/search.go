package orders

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"despacho/internal/apperror"
	"despacho/internal/guidecode"
	"despacho/internal/phone"
	"despacho/internal/textnorm"
	"despacho/models"
)

// searchText is the normalized text that searches match. Of an erased order erasedSearchText is
// left. The name of the rider is not in it: a search finds the riders first.
func searchText(o *models.OrderView) string {
	return textnorm.String(strings.Join([]string{
		erasedSearchText(&o.Order), o.RecipientName, o.RecipientPhone, o.DeliveryAddress, o.LocationName, o.Product,
	}, " "))
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

// SearchField is the field that the error of a search is about.
const SearchField = "q"

// maxSearchWords bounds the conditions of a search's statement; an address has fewer words.
const maxSearchWords = 20

// parseSearch returns the alternatives that a search matches, each with the normalized words that
// must all be found. There are none if nothing was typed; a search that can find nothing, because
// nothing of it is in the texts that are searched, is an error.
func parseSearch(typed, countryCode string) ([][]string, error) {
	if strings.TrimSpace(typed) == "" {
		return nil, nil
	}
	alternatives := searchReadings(typed, countryCode)
	// Some keyboards type letters and digits of a double width.
	if narrow := norm.NFKC.String(typed); narrow != norm.NFC.String(typed) {
		alternatives = append(alternatives, searchReadings(narrow, countryCode)...)
	}
	var wrong apperror.Fields
	switch {
	case len(alternatives) == 0:
		wrong.Add(SearchField, "escriba letras o números")
	case len(searchWords(typed)) > maxSearchWords:
		wrong.Add(SearchField, fmt.Sprintf("la búsqueda admite como máximo %d palabras", maxSearchWords))
	}
	return alternatives, wrong.Err()
}

// searchWord is a word of a search. An order has it in its search text or in the name of its rider.
type searchWord struct {
	Text string
	// Riders are the riders whose names have the word.
	Riders []uuid.UUID
}

// readSearch is parseSearch with the riders that the words may mean.
func (s *Service) readSearch(ctx context.Context, caller Caller, typed string) ([][]searchWord, error) {
	alternatives, err := parseSearch(typed, caller.Operator.CountryCode)
	if err != nil || len(alternatives) == 0 {
		return nil, err
	}
	var riders []models.Rider
	err = s.db.Query(ctx).Select("id", "name").Where("operator_id = ? AND test = ?", caller.Operator.ID, caller.Test).
		Find(&riders).Error
	if err != nil {
		return nil, err
	}
	for i := range riders {
		riders[i].Name = textnorm.String(riders[i].Name)
	}
	search := make([][]searchWord, len(alternatives))
	for i, words := range alternatives {
		for _, word := range words {
			found := searchWord{Text: word}
			for _, rider := range riders {
				if strings.Contains(rider.Name, word) {
					found.Riders = append(found.Riders, rider.ID)
				}
			}
			search[i] = append(search[i], found)
		}
	}
	return search, nil
}

// findCode has a search for a whole guide code, as a scanner types it, select the order that has
// it, which the index of the codes finds. If none has it the text may be something else.
func (s *Service) findCode(ctx context.Context, caller Caller, typed string, filter *orderFilter) error {
	code, err := guidecode.Scan(typed)
	if err != nil {
		return nil
	}
	id, err := s.IDByGuideCode(ctx, caller, code)
	if id != nil {
		filter.GuideCode, filter.Search = code, nil
	}
	return err
}

// searchReadings returns what a search may mean: the words, or for digits a phone with any spacing
// and a store's own number as it is written. What can be read as a phone of the country or as a
// guide code may still be something else. There are none without a letter or a digit: normalized
// text has no others.
func searchReadings(typed, countryCode string) [][]string {
	folded := textnorm.String(typed)
	compact := strings.ReplaceAll(folded, " ", "")
	var phrases []string
	var readings [][]string
	switch {
	case compact == "":
		return nil
	case isDigits(compact):
		phrases = []string{compact, folded}
	default:
		readings = [][]string{searchWords(typed)}
	}
	if spaced := spaceDigits(folded); spaced != folded && compact == folded {
		phrases = append(phrases, spaced)
	}
	if number, valid := phone.Canonical(strings.TrimSpace(typed), countryCode); valid {
		phrases = append(phrases, number)
	}
	if code, err := guidecode.Scan(typed); err == nil {
		phrases = append(phrases, code)
	}
	for _, phrase := range shortest(append(phrases, guidecode.ParsePart(typed)...)) {
		readings = append(readings, []string{phrase})
	}
	return readings
}

// shortest normalizes phrases and leaves out those that have another one in them, with which they
// find nothing more: each is looked for in all texts.
func shortest(phrases []string) []string {
	for i := range phrases {
		phrases[i] = textnorm.String(phrases[i])
	}
	slices.SortStableFunc(phrases, func(a, b string) int { return len(a) - len(b) })
	var kept []string
	for _, phrase := range phrases {
		if !slices.ContainsFunc(kept, func(short string) bool { return strings.Contains(phrase, short) }) {
			kept = append(kept, phrase)
		}
	}
	return kept
}

// searchWords returns the normalized words of a text, each once.
func searchWords(text string) []string {
	words := strings.Fields(textnorm.String(text))
	slices.Sort(words)
	return slices.Compact(words)
}

// spaceDigits puts a space between letters and digits: a store's A-0001 is also typed as A0001.
func spaceDigits(word string) string {
	var spaced strings.Builder
	var previous rune
	for i, r := range word {
		if i > 0 && unicode.IsDigit(previous) != unicode.IsDigit(r) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
		previous = r
	}
	return spaced.String()
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
