package orders

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"despacho/internal/money"
	"despacho/models"
)

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
	{models.CorrectedMethods, methodsText},
	{models.CorrectedProof, func(o *models.OrderView) *string { return o.ProofPhoto }},
}

func pointText(o *models.OrderView) *string {
	if o.DeliveryLat == nil || o.DeliveryLng == nil {
		return nil
	}
	return textOrNull(fmt.Sprintf("%v,%v", *o.DeliveryLat, *o.DeliveryLng))
}

// methodsText is by which ways of payment was collected; nil for a delivery that does not say.
func methodsText(o *models.OrderView) *string {
	parts := make([]string, len(o.Collections))
	for i, c := range o.Collections {
		parts[i] = c.Method.Label() + " " + c.Amount.String()
	}
	return textOrNull(strings.Join(parts, ", "))
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
	if before.LocationID != after.LocationID &&
		!slices.ContainsFunc(changed, func(c models.Correction) bool { return c.Field == models.CorrectedLocation }) {
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
	fmt.Fprintf(hash, "%q %q %q %s %q %q %d %s %d", o.RecipientPhone, o.DeliveryAddress, text(o.DeliveryReference), o.LocationID,
		text(o.Notes),
		o.Size, o.AmountToCollect, o.PaymentType, o.ShippingCost)
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
