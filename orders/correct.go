package orders

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/maplink"
	"despacho/internal/money"
	"despacho/internal/phone"
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

// Based is what a correction was decided on. A zero value accepts any.
type Based struct {
	// Content is the CorrectableContent that the person saw.
	Content string
	// Cost is the shipping cost that the person accepted.
	Cost *money.Cents
}

// Correct corrects those fields of an order that the request has; null removes a value that a
// creation may leave out. A store corrects its orders while they are registered, the operator until
// they are delivered or cancelled. The shipping cost is found again when the destination or the
// size changes. No webhook is called.
func (s *Service) Correct(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object, based Based) (*Corrected, error) {
	c, err := s.readCorrection(ctx, caller, id, in)
	if err != nil {
		return nil, err
	}
	return s.correct(ctx, caller, c, based)
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
		return correctionRefused("El pedido ya no se puede corregir porque su estado es " + status.Label() + ".")
	case caller.Actor() == models.ByStore && status != models.StatusRegistered:
		return correctionRefused("La tienda ya no puede corregir el pedido porque su estado es " + status.Label() + ". Pídalo al operador.")
	}
	return nil
}

// ErrCorrectionRefused is for errors.Is: a correction that the order's state does not allow. The
// errors that are returned have the same code and a message of their own.
var ErrCorrectionRefused = &apperror.Error{Kind: apperror.Conflict, Code: "correction_not_allowed"}

func correctionRefused(message string) *apperror.Error {
	return apperror.New(apperror.Conflict, ErrCorrectionRefused.Code, message)
}

// correction is a request that was read and checked.
type correction struct {
	// order is as it was when the request came. Other corrections may come before this one, so that
	// everything that depends on the order is decided by the changes and by apply.
	order    *models.OrderView
	changes  []func(*models.OrderView)
	settings *settings
	operator *models.Operator
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
	return &correction{order: order, settings: settings, operator: caller.Operator}, nil
}

// readCorrection reads a request with the rules of a creation.
func (s *Service) readCorrection(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object) (*correction, error) {
	c, err := s.newCorrection(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	c.readTexts(in)
	c.readSize(in)
	c.readPayment(in)
	var location uuid.UUID
	if in.HasOrNull("location_id") {
		location = in.RequiredUUID("location_id")
	}
	link := in.Text("delivery_maps_url", maxLink)
	lat, lng := readPoint(in, "delivery_lat", "delivery_lng")
	if err := in.Err(); err != nil {
		return nil, err
	}
	if in.HasOrNull("location_id") {
		destination, err := s.destination(ctx, location)
		if err != nil {
			return nil, err
		}
		c.add(func(o *models.OrderView) { o.LocationID, o.LocationName = location, destination[0].Name })
	}
	if err := s.readNewPoint(ctx, c, in, link, lat, lng); err != nil {
		return nil, err
	}
	return c, nil
}

// readTexts takes what is stored as it is read.
func (c *correction) readTexts(in *jsonbody.Object) {
	if in.HasOrNull("recipient_phone") {
		number := phone.Read(in, "recipient_phone", c.operator.CountryCode)
		c.add(func(o *models.OrderView) { o.RecipientPhone = number })
	}
	if in.HasOrNull("delivery_address") {
		address := in.RequiredLines("delivery_address", maxAddress)
		c.add(func(o *models.OrderView) { o.DeliveryAddress = address })
	}
	if in.HasOrNull("delivery_reference") {
		reference := in.Lines("delivery_reference", maxReference)
		c.add(func(o *models.OrderView) { o.DeliveryReference = reference })
	}
	if in.HasOrNull("notes") {
		notes := in.Lines("notes", maxNotes)
		c.add(func(o *models.OrderView) { o.Notes = notes })
	}
}

// readNewPoint takes the map link and the point. A point that is given comes before that of a link.
func (s *Service) readNewPoint(ctx context.Context, c *correction, in *jsonbody.Object, link *string, lat, lng *float64) error {
	if lat == nil && (in.HasOrNull("delivery_lat") || in.HasOrNull("delivery_lng")) {
		c.add(removePoint)
	}
	if link != nil && lat == nil {
		if err := s.followLink(ctx, c, *link); err != nil {
			return err
		}
	}
	if in.HasOrNull("delivery_maps_url") {
		c.add(func(o *models.OrderView) {
			if o.DeliveryMapsURL = link; link == nil && isPointOfLink(o) {
				removePoint(o)
			}
		})
	}
	if lat != nil && lng != nil {
		c.setPoint(maplink.Point{Lat: *lat, Lng: *lng}, models.PointGiven)
	}
	return nil
}

// readSize takes the operator's size with the code, or its default, as a creation does. The size
// that the order has stays, although the operator may not offer it any more.
func (c *correction) readSize(in *jsonbody.Object) {
	if !in.HasOrNull("size") {
		return
	}
	code := in.Text("size", anyLength)
	c.add(func(o *models.OrderView) {
		if code == nil || *code != o.Size {
			o.Size = sizeCode(c.settings.sizeFor(code))
		}
	})
}

// readPayment derives the payment type as a creation does, except that one that is not given stays.
func (c *correction) readPayment(in *jsonbody.Object) {
	amount, hasAmount := in.Money("amount_to_collect"), in.HasOrNull("amount_to_collect")
	var declared *string
	if amount != nil && *amount > 0 {
		in.Text("payment_type", anyLength) // overridden, but it must be a string
	} else {
		declared = in.Enum("payment_type", string(models.CashOnDelivery), string(models.DeliveryOnly))
	}
	c.add(func(o *models.OrderView) {
		if hasAmount {
			o.AmountToCollect = 0
		}
		if amount != nil {
			o.AmountToCollect = *amount
		}
		switch {
		case o.AmountToCollect > 0:
			o.PaymentType = models.CashOnDelivery
		case declared != nil:
			o.PaymentType = models.PaymentType(*declared)
		}
	})
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
		price, err := c.settings.tariff(destination, c.settings.sizeOf(&after.Order))
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
	after.SearchText = searchText(&after.Order)
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
func (s *Service) correct(ctx context.Context, caller Caller, c *correction, based Based) (*Corrected, error) {
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
		after, err := c.apply(before, places)
		if err != nil {
			return err
		}
		if outcome = s.corrected(caller, c, before, after); !outcome.Changed {
			return nil
		}
		if based.isOutdated(s.view(before, false), outcome.Order) {
			return ErrOrderChanged
		}
		return s.saveCorrection(ctx, tx, caller, before, after)
	})
	return outcome, err
}

func (b Based) isOutdated(before, after *View) bool {
	return b.Content != "" && b.Content != CorrectableContent(before) || b.Cost != nil && *b.Cost != after.ShippingCost
}

// lockView reads an order, with its names, and locks its row until the transaction ends.
func lockView(ctx context.Context, tx *db.DB, id uuid.UUID) (*models.OrderView, error) {
	if _, err := tx.LockOrder(ctx, id); err != nil {
		return nil, err
	}
	return tx.OrderViewByID(ctx, id)
}

func (s *Service) saveCorrection(ctx context.Context, tx *db.DB, caller Caller, before, after *models.OrderView) error {
	changed := corrections(before, after)
	names := make([]string, len(changed))
	for i := range changed {
		names[i] = string(changed[i].Field)
	}
	detail := strings.Join(names, ", ")
	entry := s.correctionEntry(caller, before, models.TimelineCorrected, &detail)
	audit := models.AuditEntry{OperatorID: before.OperatorID, At: entry.At, Action: models.AuditCorrected, SubjectID: &before.ID, Detail: &detail}
	if detail == string(models.CorrectedPoint) && after.DeliveryLat != nil && caller.Actor() == models.ByOperator {
		entry.Type, entry.Detail = models.TimelinePointCompleted, nil
		if before.DeliveryLat != nil {
			entry.Type = models.TimelinePointCorrected
		}
		audit.Action, audit.Detail = models.AuditPointSet, nil
	}
	after.UpdatedAt = entry.At
	return saveCorrections(ctx, tx, before, after, entry, changed, audit)
}

// saveCorrections writes the order, its timeline entry, what was corrected, and the audit entry.
func saveCorrections(ctx context.Context, tx *db.DB, before, after *models.OrderView, entry *models.TimelineEntry, changed []models.Correction, audit models.AuditEntry) error {
	for i := range changed {
		changed[i].ID, changed[i].OrderID, changed[i].EntryID = uuid.New(), before.ID, entry.ID
	}
	if err := tx.SaveCorrection(ctx, &before.Order, &after.Order, entry, changed); err != nil {
		return err
	}
	return tx.Audit(ctx, audit)
}

func (s *Service) correctionEntry(caller Caller, order *models.OrderView, kind string, detail *string) *models.TimelineEntry {
	return &models.TimelineEntry{
		ID: uuid.New(), OrderID: order.ID, Type: kind, Status: order.Status, By: string(caller.Actor()),
		UserID: caller.UserID, KeyID: caller.KeyID, Detail: detail, At: s.clock.Now(),
	}
}

// correctable are the fields that can be corrected, each as the text that the history keeps.
var correctable = []struct {
	field models.CorrectedField
	text  func(*models.OrderView) *string
}{
	{models.CorrectedPhone, func(o *models.OrderView) *string { return &o.RecipientPhone }},
	{models.CorrectedAddress, func(o *models.OrderView) *string { return &o.DeliveryAddress }},
	{models.CorrectedReference, func(o *models.OrderView) *string { return o.DeliveryReference }},
	{models.CorrectedLocation, func(o *models.OrderView) *string { return &o.LocationName }},
	{models.CorrectedMapsURL, func(o *models.OrderView) *string { return o.DeliveryMapsURL }},
	{models.CorrectedPoint, pointText},
	{models.CorrectedNotes, func(o *models.OrderView) *string { return o.Notes }},
	{models.CorrectedAmount, func(o *models.OrderView) *string { return amountText(&o.AmountToCollect) }},
	{models.CorrectedPayment, func(o *models.OrderView) *string { return textOrNull(string(o.PaymentType)) }},
	{models.CorrectedSize, func(o *models.OrderView) *string { return textOrNull(o.Size) }},
	{models.CorrectedCost, func(o *models.OrderView) *string { return amountText(&o.ShippingCost) }},
	{models.CorrectedCollected, func(o *models.OrderView) *string { return amountText(o.ActualAmountCollected) }},
	{models.CorrectedProof, func(o *models.OrderView) *string { return o.ProofPhoto }},
}

func pointText(o *models.OrderView) *string {
	if o.DeliveryLat == nil || o.DeliveryLng == nil {
		return nil
	}
	return textOrNull(fmt.Sprintf("%v,%v", *o.DeliveryLat, *o.DeliveryLng))
}

func amountText(amount *money.Cents) *string {
	if amount == nil {
		return nil
	}
	return textOrNull(amount.String())
}

// corrections are the fields in which two versions of an order differ.
func corrections(before, after *models.OrderView) []models.Correction {
	var changed []models.Correction
	for _, c := range correctable {
		old, now := c.text(before), c.text(after)
		if (old == nil) != (now == nil) || old != nil && *old != *now {
			changed = append(changed, models.Correction{Field: c.field, OldValue: old, NewValue: now})
		}
	}
	// Two places may have the same name.
	if before.LocationID != after.LocationID && !slices.ContainsFunc(changed, func(c models.Correction) bool { return c.Field == models.CorrectedLocation }) {
		old, now := before.LocationName, after.LocationName
		changed = append(changed, models.Correction{Field: models.CorrectedLocation, OldValue: &old, NewValue: &now})
	}
	return changed
}

// CorrectableContent identifies what can be corrected in an order, as it was shown. A form that was
// filled in for other content would undo a correction that its sender has not seen.
func CorrectableContent(o *View) string {
	text := func(value *string) string {
		if value == nil {
			return ""
		}
		return *value
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q %s %q %q %d %s %d", o.RecipientPhone, o.DeliveryAddress, text(o.DeliveryReference), o.LocationID, text(o.Notes),
		o.Size, o.AmountToCollect, o.PaymentType, o.ShippingCost)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
