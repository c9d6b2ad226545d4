package docs

import "strings"

// eventPages are a page for each event that a webhook receives, with its example body.
func (b *builder) eventPages() []page {
	var list []page
	for _, item := range b.root.get("paths").pairs() {
		for _, op := range item.pairs() {
			for _, callback := range op.get("callbacks").pairs() {
				for _, received := range callback.pairs() {
					for _, incoming := range received.pairs() {
						list = append(list, b.eventsOf(incoming)...)
					}
				}
			}
		}
	}
	return list
}

// eventsOf are the pages of the events that one request carries: an example for each.
func (b *builder) eventsOf(incoming node) []page {
	var list []page
	content := incoming.get("requestBody", "content", "application/json")
	add := func(sent node, description string) {
		name := sent.get("event").text()
		if name == "" {
			return
		}
		more := "Cómo llega, con qué cabeceras y cómo se verifica su firma: [" + incoming.get("summary").text() + "](#op-" +
			incoming.get("operationId").text() + ")."
		if object := content.get("schema", "properties", "data").ref; hasOwnSection(object) {
			more += " Sus campos: [" + object + "](#obj-" + object + ")."
		}
		list = append(list, page{
			ID: anchor(name), Title: name, Description: strings.TrimSpace(description) + "\n\n" + more,
			Examples: []example{{Title: "Cuerpo", JSON: highlightedJSON(sent)}},
		})
	}
	add(content.get("example"), incoming.get("description").text())
	for _, named := range content.get("examples").pairs() {
		add(named.get("value"), named.get("description").text())
	}
	return list
}
