package activities

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"despacho/internal/identity"
	"despacho/internal/orders"
	"despacho/models"
)

// identityAttempts bounds the attempts for one order: some minutes, with the backoff of the retry
// policy.
const identityAttempts = 6

// VerifyIdentity looks up the recipient's DNI and stores the outcome with the order. An
// inconclusive outcome is stored as unverified and retried. If the order is erased while a provider
// is asked, nothing is stored.
func (a *Activities) VerifyIdentity(ctx context.Context, orderID uuid.UUID) error {
	order, err := a.DB.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	if !order.NeedsIdentityCheck() {
		return nil
	}
	if order.Test {
		outcome, verified := orders.TestIdentity(&order.Order)
		return a.setIdentity(ctx, orderID, outcome, nil, verified)
	}
	if a.Identity == nil {
		return nil
	}
	number, err := a.Orders.Document(&order.Order)
	if err != nil {
		return err
	}
	answer, err := a.Identity.Verify(ctx, *number)
	if err != nil {
		return err
	}
	verified, matches := matchIdentity(answer, order.RecipientName)
	if err := a.setIdentity(ctx, orderID, answer.Outcome, matches, verified); err != nil {
		return err
	}
	if inconclusive(answer.Outcome) && activity.GetInfo(ctx).Attempt < identityAttempts {
		return fmt.Errorf("the DNI is not verified: %s", answer.Outcome)
	}
	return nil
}

// setIdentity writes the outcome of the document check. If the document was erased meanwhile,
// nothing is written.
func (a *Activities) setIdentity(
	ctx context.Context, orderID uuid.UUID, outcome identity.Outcome, matches *bool, verified bool,
) error {
	return a.DB.Query(ctx).Model(&models.Order{}).Where("id = ? AND recipient_doc_encrypted IS NOT NULL", orderID).
		Updates(map[string]any{
			"doc_outcome": string(outcome), "doc_name_matches": matches, "recipient_doc_verified": verified,
			"updated_at": a.Clock.Now(),
		}).Error
}

// matchIdentity reports whether the registry has the DNI under the recipient's name. matches is nil
// if the registry has no such DNI or did not say.
func matchIdentity(answer identity.Answer, recipient string) (verified bool, matches *bool) {
	if answer.Outcome != identity.Found {
		return false, nil
	}
	same := identity.NamesMatch(recipient, answer.Name)
	return same, &same
}

func inconclusive(outcome identity.Outcome) bool {
	return outcome == identity.Unavailable || outcome == identity.QuotaOrCredentials
}
