package panel

import (
	"fmt"

	"despacho/internal/panel/format"
	"despacho/models"
)

const (
	// maxMessage is the longest address of a message: some browsers hand no longer ones to another
	// program.
	maxMessage = 4000
	// maxMessageText is how much of an address, a reference or a note a message has.
	maxMessageText = 160
)

// sheetMessage is a conversation with the rider, with the text of some stops. Only whoever presses
// it tells WhatsApp what it says.
type sheetMessage struct {
	Address string
	// First and Last are the numbers of its stops, and Number is its own, of so many.
	First, Last, Number, Of int
	text                    string
}

// sheetMessages write the stops of a sheet for the rider's phone: in as many messages as their
// addresses need, of which each says what the others have.
func sheetMessages(operator *models.Operator, sheet *routeSheet) []sheetMessage {
	if sheet.Count == 0 {
		return nil
	}
	heading := fmt.Sprintf("*Hoja de ruta %s*\n%s, %s\n%s, por cobrar %s", sheet.DayText(), sheet.Rider.Name, operator.Name,
		sheet.Packages(), format.Amount(sheet.ToCollect, operator.Currency))
	if sheet.Unfixed > 0 {
		heading += fmt.Sprintf(" y %d por definir", sheet.Unfixed)
	}
	// Which of the messages one is, is only known when all are written.
	const room = 120
	var messages []sheetMessage
	text := heading
	end := func() {
		messages[len(messages)-1].text = text
		text = heading
	}
	for _, place := range sheet.Places {
		named := false
		for _, stop := range place.Stops {
			written := stopText(stop)
			opens := "\n\n*" + place.Name + "*"
			full := len(messages) > 0 && len(whatsAppTo(sheet.Rider.Phone, text+opens+written))+room > maxMessage
			if full {
				end()
			}
			if full || len(messages) == 0 {
				messages, named = append(messages, sheetMessage{First: stop.Number}), false
			}
			if !named {
				text, named = text+opens, true
			}
			text += written
			messages[len(messages)-1].Last = stop.Number
		}
	}
	end()
	for i := range messages {
		message := &messages[i]
		message.Number, message.Of = i+1, len(messages)
		if len(messages) > 1 {
			message.text += fmt.Sprintf("\n\nMensaje %d de %d: paradas %d a %d de %d.", i+1, len(messages), message.First,
				message.Last, sheet.Count)
		}
		message.Address = whatsAppTo(sheet.Rider.Phone, message.text)
	}
	return messages
}

// stopText is a stop in a message.
func stopText(stop sheetStop) string {
	text := fmt.Sprintf("\n\n%d. %s\n%s %s\n%s", stop.Number, stop.GuideCode, truncate(stop.RecipientName, maxMessageText),
		stop.RecipientPhone, truncate(stop.DeliveryAddress, maxMessageText))
	if reference := orEmpty(stop.DeliveryReference); reference != "" {
		text += "\nRef. " + truncate(reference, maxMessageText)
	}
	if note := orEmpty(stop.Notes); note != "" {
		text += "\nNota: " + truncate(note, maxMessageText)
	}
	return text + "\n*" + stop.Collect + "*"
}
