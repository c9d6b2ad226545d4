package activities

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"despacho/internal/identity"
	"despacho/orders"
)

// identityAttempts bounds the attempts for one order; with the retry policy's backoff that is some
// minutes.
const identityAttempts = 6

// VerifyIdentity looks up the recipient's DNI and stores the outcome with the order. An
// inconclusive outcome is stored as unverified and retried. The order may end, and be erased, while
// a provider is asked: then nothing is stored, and the answer is not cached either.
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

// matchIdentity: verified only if the registry has the DNI under the recipient's name.
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
