package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"despacho/db"
	"despacho/internal/encryption"
	"despacho/internal/identity"
	"despacho/models"
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

// IdentityCache caches providers' answers in the database, with encrypted names.
type IdentityCache struct {
	DB      *db.DB
	Secrets *encryption.Cipher
	Now     func() time.Time
}

// Get reads an unexpired answer.
func (c *IdentityCache) Get(ctx context.Context, key string) (identity.Answer, bool, error) {
	kept, err := c.DB.IdentityAnswer(ctx, key, c.Now())
	if db.IsNotFound(err) {
		return identity.Answer{}, false, nil
	}
	if err != nil {
		return identity.Answer{}, false, err
	}
	name, err := c.Secrets.Open(kept.Name, []byte(key))
	if err != nil {
		return identity.Answer{}, false, err
	}
	return identity.Answer{Outcome: identity.Outcome(kept.Outcome), Name: string(name), Provider: kept.Provider}, true, nil
}

// Put stores an answer until it expires.
func (c *IdentityCache) Put(ctx context.Context, key string, answer identity.Answer, until time.Time) error {
	name, err := c.Secrets.Seal([]byte(answer.Name), []byte(key))
	if err != nil {
		return err
	}
	return c.DB.SaveIdentityAnswer(ctx, &models.IdentityAnswer{
		Key: key, Outcome: string(answer.Outcome), Name: name, Provider: answer.Provider, ExpiresAt: until,
	})
}

// Delete removes an answer.
func (c *IdentityCache) Delete(ctx context.Context, key string) error {
	return c.DB.DeleteIdentityAnswer(ctx, key)
}
