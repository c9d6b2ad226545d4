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
)

// identityAttempts bounds how often the providers are asked about one order; with the workflow's
// growing waits that is some minutes.
const identityAttempts = 6

// VerifyIdentity asks whose name the recipient's DNI carries and keeps the answer with the order.
// Without an answer the order stands unverified, which is written down at once and mended if a
// later try succeeds.
func (a *Activities) VerifyIdentity(ctx context.Context, orderID uuid.UUID) error {
	order, err := a.DB.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	if a.Identity == nil || !order.AwaitsIdentity() {
		return nil
	}
	answer, err := a.Identity.Verify(ctx, *order.RecipientDocNumber)
	if err != nil {
		return err
	}
	verified, matches := judgeIdentity(answer, order.RecipientName)
	if err := a.DB.SetIdentity(ctx, orderID, string(answer.Outcome), matches, verified, a.Clock.Now()); err != nil {
		return err
	}
	if unanswered(answer.Outcome) && activity.GetInfo(ctx).Attempt < identityAttempts {
		return fmt.Errorf("the DNI is not verified: %s", answer.Outcome)
	}
	return nil
}

// judgeIdentity: verified only when the registry knows the DNI under the recipient's name.
func judgeIdentity(answer identity.Answer, recipient string) (verified bool, matches *bool) {
	if answer.Outcome != identity.Found {
		return false, nil
	}
	same := identity.NamesMatch(recipient, answer.Name)
	return same, &same
}

func unanswered(outcome identity.Outcome) bool {
	return outcome == identity.Unavailable || outcome == identity.QuotaOrCredentials
}

// IdentityCache keeps providers' answers in the database, names encrypted.
type IdentityCache struct {
	DB      *db.DB
	Secrets *encryption.Cipher
	Now     func() time.Time
}

// Get reads an answer whose time is not over.
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

// Put keeps an answer until a moment.
func (c *IdentityCache) Put(ctx context.Context, key string, answer identity.Answer, until time.Time) error {
	name, err := c.Secrets.Seal([]byte(answer.Name), []byte(key))
	if err != nil {
		return err
	}
	return c.DB.KeepIdentityAnswer(ctx, &models.IdentityAnswer{
		Key: key, Outcome: string(answer.Outcome), Name: name, Provider: answer.Provider, ExpiresAt: until,
	})
}
