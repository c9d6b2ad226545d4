package orders

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/models"
)

// Act is what a rider did in the street with one package, or with several at one door.
type Act struct {
	// ID is what the phone has given it: an act is made once, however often it is sent.
	ID       uuid.UUID
	OrderIDs []uuid.UUID
	// Collections are what was collected, by order.
	Collections map[uuid.UUID]models.Collections
	// PIN is what the recipient has said, nil if nothing.
	PIN *string
	// Message is the move, without what is of one order.
	models.Message
}

const (
	// MaxActOrders is the largest number of packages of one act.
	MaxActOrders = 50
	// maxClockOff is by how much the clock of a phone may be wrong before it is corrected and said.
	maxClockOff = 2 * time.Minute
)

// ReadAct reads what a phone sends, under the operator's rules.
func ReadAct(in *jsonbody.Object, rules models.Rules, hasPhoto bool, now time.Time) (*Act, error) {
	act := &Act{ID: in.RequiredUUID("id")}
	act.OrderIDs = readActOrders(in)
	kind := in.Enum("type", string(models.MoveDeliver), string(models.MoveFail))
	switch {
	case kind == nil && !in.Has("type"):
		in.AddError("type", jsonbody.MissingMessage)
	case kind == nil:
	case *kind == string(models.MoveFail):
		act.Message = ReadFailure(in, rules, hasPhoto)
	default:
		act.readDelivery(in, rules, hasPhoto)
	}
	act.Lat, act.Lng = readPoint(in, "lat", "lng")
	if act.Move == models.MoveDeliver && rules.NeedsPoint && act.Lat == nil {
		in.AddError("lat", "el operador pide el punto donde se entrega")
	}
	act.readTimes(in, now)
	return act, in.Err()
}

func readActOrders(in *jsonbody.Object) []uuid.UUID {
	var ids []uuid.UUID
	for _, text := range in.TextList("order_ids") {
		id, valid := jsonbody.ParseUUID(text)
		if !valid {
			in.AddError("order_ids", "debe tener identificadores de pedidos")
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || len(ids) > MaxActOrders {
		in.AddError("order_ids", "debe tener de 1 a "+strconv.Itoa(MaxActOrders)+" pedidos")
	}
	return ids
}

func (a *Act) readDelivery(in *jsonbody.Object, rules models.Rules, hasPhoto bool) {
	a.Move = models.MoveDeliver
	if by := in.Lines("received_by", models.MaxReceivedBy); by != nil {
		a.ReceivedBy = *by
	}
	if rules.NeedsReceivedBy && a.ReceivedBy == "" {
		in.AddError("received_by", "el operador pide anotar quién recibe")
	}
	if rules.NeedsPhoto && !hasPhoto {
		in.AddError("photo", "el operador pide una foto")
	}
	a.PIN = in.Text("pin", PINLength)
	a.Collections = map[uuid.UUID]models.Collections{}
	in.WithObject("collections", func(of *jsonbody.Object) {
		for _, name := range of.Names() {
			id, valid := jsonbody.ParseUUID(name)
			if !valid || !slices.Contains(a.OrderIDs, id) {
				of.AddError(name, "no es un pedido de order_ids")
				continue
			}
			a.Collections[id] = readCollectionsOf(of, name, rules)
		}
	})
}

// readTimes takes when the act was made. A phone says what its clock shows when it sends, so that a
// clock that is wrong is noticed.
func (a *Act) readTimes(in *jsonbody.Object, now time.Time) {
	occurred, sent := in.Time("occurred_at"), in.Time("sent_at")
	if occurred == nil {
		if !in.Has("occurred_at") {
			in.AddError("occurred_at", jsonbody.MissingMessage)
		}
		return
	}
	if sent != nil {
		if off := sent.Sub(now); off.Abs() > maxClockOff {
			seconds := int(off.Seconds())
			*occurred, a.ClockOff = occurred.Add(-off), &seconds
		}
	}
	a.OccurredAt = occurred
}

// messageOf is the move of one order of the act.
func (a *Act) messageOf(order *models.Order) models.Message {
	message, entryID := a.Message, a.entryID(order.ID)
	message.EntryID = &entryID
	if collections := a.Collections[order.ID]; len(collections) > 0 {
		total := collections.Total()
		message.Collections, message.ActualAmountCollected = collections, &total
	}
	if message.CapturedAt == nil {
		message.CapturedAt = a.OccurredAt
	}
	return message
}

// entryID is the id of the timeline entry of the act in an order, refusalID that of its refusal.
func (a *Act) entryID(orderID uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(orderID, []byte("act "+a.ID.String()))
}

func (a *Act) refusalID(orderID uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(orderID, []byte("refused act "+a.ID.String()))
}
