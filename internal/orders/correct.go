package orders

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// Corrected is the outcome of a correction, or of the preview of one.
type Corrected struct {
	Order *View
	// CostBefore is the shipping cost before the correction.
	CostBefore money.Cents
	// Changed means that something was corrected; a correction to what is there already is none.
	Changed bool
	// Warning says what needs attention in the corrected order, or is empty.
	Warning string
}

// CostChanged reports whether the correction changes the shipping cost.
func (c *Corrected) CostChanged() bool { return c.CostBefore != c.Order.ShippingCost }

// CorrectionPrecondition is what a correction was decided on. A zero value accepts any.
type CorrectionPrecondition struct {
	// Content is the CorrectableContent that the correction was merged with.
	Content string
	// Cost is the shipping cost that the person accepted.
	Cost *money.Cents
}

// Correct corrects those fields of an order that the request has; null removes a value that a
// creation may leave out. A store corrects its orders while they are registered, the operator until
// they are delivered or cancelled. The shipping cost is found again when the destination or the
// size changes. No webhook is called.
func (s *Service) Correct(
	ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object, expected CorrectionPrecondition,
) (*Corrected, error) {
	c, err := s.readCorrection(ctx, caller, id, in)
	if err != nil {
		return nil, err
	}
	return s.correct(ctx, caller, c, expected)
}

// PreviewCorrection is Correct without the correction.
func (s *Service) PreviewCorrection(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object) (*Corrected, error) {
	c, err := s.readCorrection(ctx, caller, id, in)
	if err != nil {
		return nil, err
	}
	places, err := s.catalog.Index(ctx)
	if err != nil {
		return nil, err
	}
	after, err := c.apply(c.order, places)
	if err != nil {
		return nil, err
	}
	return s.corrected(caller, c, c.order, after), nil
}

// RequireCorrectable returns why the caller may not correct an order with the status, or nil.
func RequireCorrectable(caller Caller, status models.Status) error {
	switch {
	case !status.Open():
		return ErrCorrectionRefused.Saying("El pedido ya no se puede corregir porque su estado es " + status.Label() + ".")
	case caller.decides || caller.Actor() == models.ByOperator:
		return nil
	case caller.Actor() != models.ByStore:
		return ErrCorrectionRefused.Saying("Solo el operador puede corregir el pedido.")
	case status != models.StatusRegistered:
		return ErrCorrectionRefused.Saying("La tienda ya no puede corregir el pedido porque su estado es " + status.Label() +
			". Pídalo al operador.")
	}
	return nil
}

// requireStillDecides refuses a correction that belongs to a decision which somebody else has taken
// meanwhile.
func requireStillDecides(caller Caller, order *models.OrderView) error {
	if !caller.decides {
		return nil
	}
	return requireMove(caller, order, models.MoveRetry)
}

// ErrCorrectionRefused is a correction that the order's state does not allow. What is returned is a
// copy with a message.
var ErrCorrectionRefused = &apperror.Error{Kind: apperror.Conflict, Code: "correction_not_allowed"}

// correction is a request that was read and checked.
type correction struct {
	// order is as it was when the request came. Other corrections may come before this one, so that
	// everything that depends on the order is decided by the changes and by apply.
	order    *models.OrderView
	changes  []func(*models.OrderView)
	settings *settings
	operator *models.Operator
	// at is when the request came: a new price is that of its day.
	at time.Time
	// placed means that a change has set the point.
	placed   bool
	warnings []string
}

func (c *correction) add(change func(*models.OrderView)) { c.changes = append(c.changes, change) }

func (c *correction) warn(text string) {
	if !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

// newCorrection has no changes yet.
func (s *Service) newCorrection(ctx context.Context, caller Caller, id uuid.UUID) (*correction, error) {
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if err := RequireCorrectable(caller, order.Status); err != nil {
		return nil, err
	}
	settings, err := s.settings.get(ctx, caller.Operator)
	if err != nil {
		return nil, err
	}
	// The order's place may be new: after this the catalog has it.
	if _, _, err := s.catalog.Destination(ctx, order.LocationID); err != nil {
		return nil, err
	}
	return &correction{order: order, settings: settings, operator: caller.Operator, at: s.clock.Now()}, nil
}

// apply is the order with the changes and with what follows from them.
func (c *correction) apply(before *models.OrderView, places *catalog.Index) (*models.OrderView, error) {
	after := *before
	for _, change := range c.changes {
		change(&after)
	}
	destination := places.Ancestors(after.LocationID)
	if c.placed || after.LocationID != before.LocationID {
		c.warnOfPoint(&after, destination)
	}
	if after.Size != before.Size || after.LocationID != before.LocationID {
		price, err := c.settings.tariff(payerAt(after.StoreID, c.operator, c.at), destination, c.settings.sizeOf(&after.Order))
		if err != nil {
			return nil, err
		}
		after.ShippingCost = price
	}
	if after.DeliveryAddress != before.DeliveryAddress || after.LocationID != before.LocationID {
		after.RiskZone = nil
		if zone := c.settings.riskZone(destination, after.DeliveryAddress); zone != nil {
			after.RiskZone = &zone.Name
			c.warn(riskWarning(zone))
		}
	}
	after.SearchText = searchText(&after)
	return &after, nil
}

// corrected describes a correction.
func (s *Service) corrected(caller Caller, c *correction, before, after *models.OrderView) *Corrected {
	return &Corrected{
		Order: s.View(caller, after), CostBefore: before.ShippingCost, Changed: len(corrections(before, after)) > 0,
		Warning: strings.Join(c.warnings, " "),
	}
}

// correct writes a correction. The row is locked, as a move locks it: an order that was delivered
// or cancelled meanwhile is not corrected, a move never overwrites a corrected field, and one
// correction follows from what another has left. The catalog is read before, because whoever holds
// a connection must not wait for another one.
func (s *Service) correct(
	ctx context.Context, caller Caller, c *correction, expected CorrectionPrecondition,
) (*Corrected, error) {
	places, err := s.catalog.Index(ctx)
	if err != nil {
		return nil, err
	}
	var outcome *Corrected
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		before, err := lockView(ctx, tx, c.order.ID)
		if err != nil {
			return err
		}
		if err := RequireCorrectable(caller, before.Status); err != nil {
			return err
		}
		if err := requireStillDecides(caller, before); err != nil {
			return err
		}
		after, err := c.apply(before, places)
		if err != nil {
			return err
		}
		if outcome = s.corrected(caller, c, before, after); !outcome.Changed {
			return nil
		}
		if expected.isOutdated(s.view(before, false), outcome.Order) {
			return ErrOrderChanged
		}
		return s.saveCorrection(ctx, tx, caller, before, after)
	})
	return outcome, err
}

func (p CorrectionPrecondition) isOutdated(before, after *View) bool {
	return p.Content != "" && p.Content != CorrectableContent(before) || p.Cost != nil && *p.Cost != after.ShippingCost
}

// lockView reads an order, with its names, and locks its row until the transaction ends.
func lockView(ctx context.Context, tx *db.DB, id uuid.UUID) (*models.OrderView, error) {
	if _, err := lockOrder(ctx, tx, id); err != nil {
		return nil, err
	}
	return tx.OrderViewByID(ctx, id)
}

func lockOrder(ctx context.Context, tx *db.DB, id uuid.UUID) (*models.Order, error) {
	var order models.Order
	err := tx.QueryForUpdate(ctx).Where("id = ?", id).Take(&order).Error
	return &order, err
}

func (s *Service) saveCorrection(ctx context.Context, tx *db.DB, caller Caller, before, after *models.OrderView) error {
	changed := corrections(before, after)
	names := make([]string, len(changed))
	for i := range changed {
		names[i] = string(changed[i].Field)
	}
	detail := strings.Join(names, ", ")
	entry := s.correctionEntry(caller, before, models.TimelineCorrected, &detail)
	audit := models.AuditEntry{OperatorID: before.OperatorID, At: entry.At, Action: models.AuditCorrected, SubjectID: &before.ID,
		Detail: &detail}
	if detail == string(models.CorrectedPoint) && after.DeliveryLat != nil && caller.Actor() == models.ByOperator {
		entry.Type, entry.Detail = models.TimelinePointCompleted, nil
		if before.DeliveryLat != nil {
			entry.Type = models.TimelinePointCorrected
		}
		audit.Action, audit.Detail = models.AuditPointSet, nil
	}
	after.UpdatedAt = entry.At
	return saveCorrections(ctx, tx, caller, before, after, entry, changed, audit)
}

// saveCorrections writes those columns of a locked order that differ from what it was before, its
// totals and its money, its timeline entry, what was corrected, and the audit entry.
func saveCorrections(
	ctx context.Context, tx *db.DB, caller Caller, before, after *models.OrderView, entry *models.TimelineEntry,
	changed []models.Correction, audit models.AuditEntry,
) error {
	if err := limitCorrections(ctx, tx, caller, before.ID); err != nil {
		return err
	}
	for i := range changed {
		changed[i].ID, changed[i].OrderID, changed[i].EntryID = uuid.New(), before.ID, entry.ID
	}
	if columns := db.ChangedColumns(&before.Order, &after.Order); len(columns) > 0 {
		// UpdateColumns, because Updates would set updated_at to the current time.
		written := tx.Query(ctx).Model(&models.Order{}).Where("id = ?", before.ID).Select(columns).UpdateColumns(&after.Order)
		if err := db.RequireOneRow(written); err != nil {
			return err
		}
	}
	for _, rows := range []any{entry, changed} {
		if err := tx.Insert(ctx, rows); err != nil {
			return err
		}
	}
	if err := SaveTotals(ctx, tx, caller.Operator, &before.Order, &after.Order); err != nil {
		return err
	}
	if err := SaveLedger(ctx, tx, caller.Operator, &before.Order, &after.Order, entry); err != nil {
		return err
	}
	return tx.Audit(ctx, audit)
}

// maxCorrections bounds the corrections of an order, which everybody reads who opens it. A store's
// leave as many to the operator.
const maxCorrections = 100

// limitCorrections refuses to correct a locked order that was corrected too often.
func limitCorrections(ctx context.Context, tx *db.DB, caller Caller, id uuid.UUID) error {
	limit := int64(maxCorrections)
	if caller.Actor() == models.ByStore {
		limit /= 2
	}
	var corrected int64
	err := tx.Query(ctx).Model(&models.TimelineEntry{}).Where("order_id = ? AND type IN ?", id, correctionTypes).
		Count(&corrected).Error
	if err == nil && corrected >= limit {
		err = ErrCorrectionRefused.Saying("El pedido ya se corrigió demasiadas veces.")
	}
	return err
}

func (s *Service) correctionEntry(caller Caller, order *models.OrderView, kind string, detail *string) *models.TimelineEntry {
	return &models.TimelineEntry{
		ID: uuid.New(), OrderID: order.ID, Type: kind, Status: order.Status, By: string(caller.Actor()),
		UserID: caller.UserID, KeyID: caller.KeyID, Detail: detail, At: s.clock.Now(),
	}
}
