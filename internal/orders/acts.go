package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"despacho/internal/apperror"
	"despacho/internal/recovered"
	"despacho/models"
)

// ActOutcome is what became of an act for one order.
type ActOutcome string

// The act is made, now or when it was sent before; or the order does not allow it, for good.
const (
	ActDone    ActOutcome = "done"
	ActRefused ActOutcome = "refused"
)

// ActResult is the result of an act for one order. Of a refused one Message says why and Action
// what the rider has to do.
type ActResult struct {
	OrderID uuid.UUID  `json:"order_id"`
	Outcome ActOutcome `json:"outcome"`
	Code    string     `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
	Action  string     `json:"action,omitempty"`
}

// MakeAct makes what a rider did. Each order is moved once, however often the act is sent. What an
// order no longer allows is kept in its timeline, with the photo, and the rider is told what to do.
// An error means that the act is wrong in itself, or that it may be sent again.
func (s *Service) MakeAct(ctx context.Context, caller Caller, act *Act, photo []byte) ([]ActResult, error) {
	found, err := s.ordersOfAct(ctx, caller, act)
	if err != nil {
		return nil, err
	}
	if err := s.checkAct(ctx, caller, act, found); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.BulkMoveTimeout)
	defer cancel()
	results := make([]ActResult, len(act.OrderIDs))
	var moves errgroup.Group
	moves.SetLimit(bulkConcurrency)
	for i, id := range act.OrderIDs {
		results[i] = ActResult{OrderID: id, Outcome: ActDone}
		moves.Go(func() error {
			return recovered.Call(ctx, s.log, func() error { return s.makeActOf(ctx, caller, act, photo, found[id], &results[i]) })
		})
	}
	return results, moves.Wait()
}

// ordersOfAct reads the orders of an act that are the rider's, or were: of the others a rider hears
// nothing.
func (s *Service) ordersOfAct(ctx context.Context, caller Caller, act *Act) (map[uuid.UUID]*models.OrderView, error) {
	var rows []models.OrderView
	err := caller.Scope().Orders(s.db.OrderViews(ctx)).Where("orders.id IN ?", act.OrderIDs).
		Where("orders.rider_id = ? OR EXISTS (SELECT 1 FROM order_events WHERE order_events.order_id = orders.id AND "+
			"order_events.seq IS NOT NULL AND order_events.rider_id = ?)", *caller.RiderID, *caller.RiderID).Find(&rows).Error
	found := make(map[uuid.UUID]*models.OrderView, len(rows))
	for i := range rows {
		found[rows[i].ID] = &rows[i]
	}
	return found, err
}

// checkAct refuses an act that the rider can correct: it does not say what was collected, or the
// PIN is wrong. An order that is no longer the rider's needs neither.
func (s *Service) checkAct(ctx context.Context, caller Caller, act *Act, found map[uuid.UUID]*models.OrderView) error {
	if act.Move != models.MoveDeliver {
		return nil
	}
	var wrong apperror.Fields
	var pins []string
	for id, order := range found {
		if order.Status != models.StatusAssigned || order.RiderID == nil || *order.RiderID != *caller.RiderID {
			continue
		}
		message := act.messageOf(&order.Order)
		if lacksAmount(&order.Order, message.ActualAmountCollected) {
			wrong.Add("collections."+id.String(), amountRequired)
		}
		if pin, needed := s.DeliveryPIN(&order.Order, caller.Operator.Rules); needed {
			pins = append(pins, pin)
		}
	}
	if len(pins) > 0 {
		if err := s.checkPIN(ctx, caller, act, pins, &wrong); err != nil {
			return err
		}
	}
	return wrong.Err()
}

// pinsPerMinute bounds how many wrong PINs a rider may send.
const pinsPerMinute = 5

var errTooManyPINs = apperror.Limited("rate_limited", "Demasiados PIN equivocados. Espere un minuto.", time.Minute)

// checkPIN compares what the recipient said with the PINs of the orders at the door: whoever opens
// has one of them.
func (s *Service) checkPIN(ctx context.Context, caller Caller, act *Act, pins []string, wrong *apperror.Fields) error {
	switch {
	case act.PIN == nil:
		wrong.Add("pin", "pida al cliente el PIN de su página de seguimiento")
		return nil
	case slices.Contains(pins, *act.PIN):
		return nil
	}
	used, err := s.db.CountRequest(ctx, "delivery-pin:"+caller.RiderID.String(), s.clock.Now())
	if err != nil {
		return err
	}
	if used > pinsPerMinute {
		return errTooManyPINs
	}
	wrong.Add("pin", "no es el PIN del cliente: son seis cifras, en su página de seguimiento")
	return nil
}

// makeActOf makes an act for one order; nil is one that the operator does not have.
func (s *Service) makeActOf(
	ctx context.Context, caller Caller, act *Act, photo []byte, order *models.OrderView, result *ActResult,
) error {
	if order == nil {
		result.refuse(ErrOrderNotFound, "Avise a su operador.")
		return nil
	}
	message := act.messageOf(&order.Order)
	message.Requester = caller.requester()
	if written, err := s.isWritten(ctx, *message.EntryID); err != nil || written {
		return err
	}
	if kept, err := s.keptRefusal(ctx, act.refusalID(order.ID)); err != nil || kept != nil {
		if kept != nil {
			result.refuse(ErrMoveRefused.Saying(*kept), actionAfter(act.Move, order))
		}
		return err
	}
	_, err := decide(message, caller.Actor(), order)
	if err == nil {
		err = s.moveByAct(ctx, caller, order, message, photo)
	}
	if !errors.Is(err, ErrMoveRefused) {
		return err
	}
	return s.keepRefusal(ctx, caller, act, photo, order.ID, result)
}

// moveByAct moves an order, with a copy of the photo of its own.
func (s *Service) moveByAct(
	ctx context.Context, caller Caller, order *models.OrderView, message models.Message, photo []byte,
) error {
	if photo != nil {
		if err := s.savePhoto(ctx, caller, order.ID, photo, &message); err != nil {
			return err
		}
	}
	moved, err := s.moveAndCount(ctx, caller, order, message, message.EntryID.String())
	if message.Photo != "" && (isDefiniteRefusal(err) || err == nil && !s.View(caller, moved).refersTo(message.Photo)) {
		s.discardPhoto(ctx, message.Photo)
	}
	return err
}

// keptRefusal is why an act was refused when it was sent before; nil if it was not.
func (s *Service) keptRefusal(ctx context.Context, id uuid.UUID) (*string, error) {
	var reasons []string
	err := s.db.Query(ctx).Model(&models.TimelineEntry{}).Where("id = ?", id).Pluck("COALESCE(detail, '')", &reasons).Error
	if err != nil || len(reasons) == 0 {
		return nil, err
	}
	return &reasons[0], nil
}

// keepRefusal keeps in the timeline what a rider did and the order no longer allows: the operator
// sees it, and nothing that was photographed is lost.
func (s *Service) keepRefusal(
	ctx context.Context, caller Caller, act *Act, photo []byte, orderID uuid.UUID, result *ActResult,
) error {
	order, err := s.Find(ctx, caller, orderID)
	if err != nil {
		return err
	}
	reason := refusedBecause(caller, act, order)
	entry := models.TimelineEntry{
		ID: act.refusalID(orderID), OrderID: orderID, Type: models.TimelineActRefused, Status: order.Status,
		By: string(models.ByRider), RiderID: caller.RiderID, Detail: &reason, At: s.clock.Now(),
		OccurredAt: act.OccurredAt, ClockOff: act.ClockOff,
	}
	if photo != nil && order.ErasedAt == nil {
		name, err := s.storePhoto(ctx, caller, orderID, photo)
		if err != nil {
			return err
		}
		entry.Photo = &name
	}
	if err := s.db.InsertMissing(ctx, &entry); err != nil {
		return err
	}
	result.refuse(ErrMoveRefused.Saying(reason), actionAfter(act.Move, order))
	return nil
}

func (r *ActResult) refuse(err *apperror.Error, action string) {
	r.Outcome, r.Code, r.Message, r.Action = ActRefused, err.Code, err.Message, action
}

// refusedBecause says to a rider why an order does not allow what they did.
func refusedBecause(caller Caller, act *Act, order *models.OrderView) string {
	what := "La entrega"
	if act.Move == models.MoveFail {
		what = "El intento"
	}
	why := "su estado es " + order.Status.Label()
	switch {
	case order.Status == models.StatusDelivered:
		why = "el pedido ya figura como entregado"
	case order.State().Substatus == models.SubstatusReturned:
		why = "el paquete ya se devolvió a su tienda"
	case order.Status == models.StatusCancelled:
		why = "el pedido se canceló"
	case order.Status == models.StatusReceived:
		why = "el paquete ya volvió a la sucursal"
	case order.Status == models.StatusAssigned && order.RiderID != nil && *order.RiderID != *caller.RiderID:
		why = "el pedido pasó a otro motorizado"
	case order.State().Substatus == models.SubstatusReturning:
		why = "se decidió devolver el paquete a su tienda"
	}
	said := fmt.Sprintf("%s de %s no se registró: %s.", what, order.GuideCode, why)
	if details := act.inWords(order); details != "" {
		said += " " + details
	}
	return said
}

// inWords is what an act says about one order, for the operator who has to do something about it.
func (a *Act) inWords(order *models.OrderView) string {
	var words []string
	for _, c := range a.Collections[order.ID] {
		part := c.Method.Label() + " " + c.Amount.String()
		if c.Reference != nil {
			part += " (" + *c.Reference + ")"
		}
		words = append(words, part)
	}
	if a.Move == models.MoveFail {
		words = append(words, models.FailureReason(a.Reason).Label())
	}
	for _, text := range []string{a.ReceivedBy, a.Note} {
		if text != "" {
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "Anotó: " + strings.Join(words, ", ") + "."
}

// actionAfter says what a rider does whose act was refused.
func actionAfter(move models.Move, order *models.OrderView) string {
	switch {
	case order.Status == models.StatusDelivered && move == models.MoveDeliver:
		return "Si lo entregó usted, avise a su operador: tiene su foto y lo que anotó."
	case move == models.MoveDeliver:
		return "Avise ahora a su operador que ya lo entregó: tiene su foto y lo que anotó."
	case order.Status.Ended() || order.State().Substatus == models.SubstatusReturning:
		return "Si tiene el paquete, llévelo a la sucursal."
	}
	return "Si tiene el paquete, avise a su operador."
}
