package webhooks

import (
	"context"

	"despacho/internal/db"
	"despacho/workflows"
)

// SendAbandoned makes sure that an abandoned delivery is sent. If its order's workflow is running,
// that one reloads the order and sends what it is not sending yet. Otherwise the delivery is
// queued: the workers send what is queued for one order and webhook in sequence. byOrder means that
// the order's workflow was told, which does for every delivery of that order.
func (s *Service) SendAbandoned(ctx context.Context, target db.DeliveryTarget) (byOrder bool, err error) {
	if target.OrderID != nil {
		running, err := workflows.SignalRefresh(ctx, s.Temporal, *target.OrderID)
		if running || err != nil {
			return running, err
		}
	}
	return false, s.DB.Enqueue(ctx, target.ID)
}
