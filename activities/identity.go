package activities

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"despacho/internal/identity"
	"despacho/internal/orders"
)

// identityAttempts bounds the attempts for one order: some minutes, with the backoff of the retry
// policy.
const identityAttempts = 6

// VerifyIdentity looks up the recipient's DNI and stores the outcome with the order. An
// inconclusive outcome is stored as unverified and retried. If the order is erased while a provider
// is asked, nothing is stored and the answer is removed from the cache.
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
		_, err := a.DB.SetIdentity(ctx, orderID, string(outcome), nil, verified, a.Clock.Now())
		return err
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
	set, err := a.DB.SetIdentity(ctx, orderID, string(answer.Outcome), matches, verified, a.Clock.Now())
	if err != nil {
		return err
	}
	if !set {
		return a.Identity.Forget(ctx, *number)
	}
	if inconclusive(answer.Outcome) && activity.GetInfo(ctx).Attempt < identityAttempts {
		return fmt.Errorf("the DNI is not verified: %s", answer.Outcome)
	}
	return nil
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
