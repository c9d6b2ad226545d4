package orders

import (
	"time"

	"despacho/internal/apperror"
	"despacho/models"
)

// Errors returned to callers.
var (
	ErrOrderNotFound = apperror.New(apperror.NotFound, "order_not_found", "El pedido no existe.")
	ErrStoreInactive = apperror.New(apperror.Forbidden, "store_inactive", "La tienda está desactivada: no puede crear pedidos.")
	ErrNotCovered    = apperror.New(apperror.Unprocessable, "not_covered",
		"El operador no cubre el destino indicado en location_id.")
	ErrNoTariff = apperror.New(apperror.Unprocessable, "no_tariff",
		"El operador no tiene tarifa para el destino indicado en location_id.")
	ErrKeyInProgress = &apperror.Error{
		Kind: apperror.Conflict, Code: "idempotency_in_progress", RetryAfter: 2 * time.Second,
		Message: "Otra solicitud con la misma Idempotency-Key está en proceso. Espere unos segundos y vuelva a intentarlo.",
	}
	ErrKeyReused = apperror.New(apperror.Unprocessable, "idempotency_key_reused",
		"La Idempotency-Key ya se usó con otros datos. Use una clave nueva para este pedido.")
	ErrOrderChanged = apperror.New(apperror.Conflict, "order_changed",
		"El pedido cambió desde que usted lo vio. Revise cómo está y vuelva a intentarlo.")
	ErrMoveUnconfirmed = &apperror.Error{
		Kind: apperror.Unavailable, Code: "try_again", RetryAfter: 5 * time.Second,
		Message: "El cambio no se pudo confirmar a tiempo. Consulte el estado del pedido antes de volver a intentarlo.",
	}
)

// orderChanged is ErrOrderChanged with what the order is now. A store is not told the rider.
func orderChanged(by models.Actor, order *models.OrderView) *apperror.Error {
	now := "Ahora su estado es " + order.Status.Label()
	if order.Status == models.StatusAssigned && order.RiderName != nil && by != models.ByStore {
		now += ", con " + *order.RiderName
	}
	return ErrOrderChanged.Saying("El pedido cambió desde que usted lo vio. " + now + ".")
}

// moveRefused is the error of a move that the order's status does not allow. The API renders it as
// 400, the panel as 409.
func moveRefused(move models.Move, status models.Status) *apperror.Error {
	verb := map[models.Move]string{
		models.MoveCancel: "cancelar", models.MoveReceive: "recibir", models.MoveAssign: "asignar",
		models.MoveDeliver: "entregar", models.MoveFail: "marcar como no entregado", models.MoveUndo: "deshacer",
	}[move]
	switch move {
	case models.MoveRetry, models.MoveReturn:
		return ErrMoveRefused.Saying("El pedido no espera una decisión: no tiene un intento fallido por decidir. Su estado es " +
			status.Label() + ".")
	case models.MoveHandBack:
		return ErrMoveRefused.Saying("El pedido no se puede entregar a su tienda: no está por devolver en la sucursal. Su estado es " +
			status.Label() + ".")
	}
	return ErrMoveRefused.Saying("El pedido no se puede " + verb + " porque su estado es " + status.Label() + ".")
}

// ErrMoveRefused is a move that the order's state does not allow. What is returned is a copy with a
// message.
var ErrMoveRefused = &apperror.Error{Kind: apperror.Conflict, Code: "move_not_allowed"}
