package orders

import (
	"despacho/internal/jsonbody"
	"despacho/models"
)

// maxCollections is how many ways of payment one delivery may have.
const maxCollections = 10

// readCollections reads by which ways of payment what was collected; those that an operator does
// not offer are refused.
func readCollections(in *jsonbody.Object, rules models.Rules) models.Collections {
	return readCollectionsOf(in, "collections", rules)
}

// readCollected reads into a message by which ways was collected what it says.
func readCollected(in *jsonbody.Object, rules models.Rules, message *models.Message) {
	if message.Collections = readCollections(in, rules); len(message.Collections) == 0 {
		return
	}
	total := message.Collections.Total()
	if message.ActualAmountCollected != nil && *message.ActualAmountCollected != total {
		in.AddError("collections", "no suma actual_amount_collected")
	}
	message.ActualAmountCollected = &total
}

func readCollectionsOf(in *jsonbody.Object, name string, rules models.Rules) models.Collections {
	var collections models.Collections
	in.EachObject(name, maxCollections, func(item *jsonbody.Object) {
		collections = append(collections, readCollection(item, rules))
	})
	return collections
}

func readCollection(in *jsonbody.Object, rules models.Rules) models.Collection {
	words := make([]string, len(rules.Methods()))
	for i, method := range rules.Methods() {
		words[i] = string(method)
	}
	var c models.Collection
	if method := in.Enum("method", words...); method != nil {
		c.Method = models.Method(*method)
	} else if !in.Has("method") {
		in.AddError("method", jsonbody.MissingMessage)
	}
	if amount := in.Money("amount"); amount != nil {
		c.Amount = *amount
	} else if !in.Has("amount") {
		in.AddError("amount", jsonbody.MissingMessage)
	}
	c.Reference = in.Text("reference", models.MaxReference)
	if c.Reference == nil && rules.NeedsReference(c.Method) {
		in.AddError("reference", "es obligatorio con esta forma de pago")
	}
	return c
}
