package activities

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/db"
	"despacho/internal/maplink"
	"despacho/internal/orders"
	"despacho/internal/safehttp"
	"despacho/models"
)

// ResolveMapLink resolves a short map link to the delivery point. It sets the point only if none
// was set meanwhile, and adds a timeline entry for the operator.
func (a *Activities) ResolveMapLink(ctx context.Context, orderID uuid.UUID) error {
	order, err := a.DB.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	if order.DeliveryLat != nil || order.DeliveryMapsURL == nil {
		return nil
	}
	if orders.TestLinkUnresolved(&order.Order) {
		return a.addTimelineEntry(ctx, &order.Order, models.TimelinePointUnresolved, "El enlace no contiene un punto.")
	}
	operator, err := a.DB.Operator(ctx, order.OperatorID)
	if err != nil {
		return err
	}
	bounds, _ := maplink.Country(operator.CountryCode)
	point, err := a.MapLinks.Resolve(ctx, *order.DeliveryMapsURL, bounds)
	if err != nil {
		if isRetryable(ctx, err) {
			return errLinkUnreachable
		}
		if noteErr := a.addTimelineEntry(ctx, &order.Order, models.TimelinePointUnresolved,
			unresolvedReason(err)); noteErr != nil {
			return noteErr
		}
		// Benign, for the SDK's log and metrics: the store wrote the link.
		return temporal.NewApplicationErrorWithOptions("the map link has no point", "NoPoint",
			temporal.ApplicationErrorOptions{NonRetryable: true, Category: temporal.ApplicationErrorCategoryBenign})
	}
	return a.setLinkPoint(ctx, &order.Order, point)
}

// setLinkPoint writes the point that a map link gave. An order that has a point by now, or another
// link, keeps what it has.
func (a *Activities) setLinkPoint(ctx context.Context, order *models.Order, point maplink.Point) error {
	return a.DB.InTx(ctx, func(tx *db.DB) error {
		set := tx.Query(ctx).Model(&models.Order{}).
			Where("id = ? AND delivery_lat IS NULL AND delivery_maps_url = ?", order.ID, *order.DeliveryMapsURL).
			Updates(map[string]any{
				"delivery_lat": point.Lat, "delivery_lng": point.Lng, "point_source": string(point.Source),
				"updated_at": a.Clock.Now(),
			})
		if set.Error != nil || set.RowsAffected == 0 {
			return set.Error
		}
		return a.addTimelineEntryTx(ctx, tx, order, models.TimelinePointResolved, string(point.Source))
	})
}

// errLinkUnreachable replaces the cause in the workflow history, because the cause contains the
// link.
var errLinkUnreachable = errors.New("the map link cannot be followed now")

// mapLinkAttempts bounds the attempts for one link; with the retry policy's backoff that is some
// minutes.
const mapLinkAttempts = 6

// isRetryable reports whether another attempt may help: not if the address is refused, and not
// after mapLinkAttempts.
func isRetryable(ctx context.Context, err error) bool {
	var refused *safehttp.AddressError
	return maplink.Temporary(err) && !errors.As(err, &refused) && activity.GetInfo(ctx).Attempt < mapLinkAttempts
}

func unresolvedReason(err error) string {
	var outside *maplink.OutsideCountry
	switch {
	case errors.As(err, &outside):
		return "El enlace apunta fuera del país del operador."
	case maplink.Temporary(err):
		return "El enlace no se pudo abrir."
	}
	return "El enlace no contiene un punto."
}

func (a *Activities) addTimelineEntry(ctx context.Context, order *models.Order, kind, detail string) error {
	return a.addTimelineEntryTx(ctx, a.DB, order, kind, detail)
}

// addTimelineEntryTx adds a timeline entry that is not a move. Its id is derived from the order and
// the kind, so that a retry adds it once.
func (a *Activities) addTimelineEntryTx(ctx context.Context, database *db.DB, order *models.Order, kind, detail string) error {
	return database.InsertMissing(ctx, &models.TimelineEntry{
		ID: uuid.NewSHA1(order.ID, []byte(kind)), OrderID: order.ID, Type: kind, Status: order.Status,
		By: models.BySystem, Detail: &detail, At: a.Clock.Now(),
	})
}
