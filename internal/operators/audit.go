package operators

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/principal"
	"despacho/models"
)

// auditRow records that a row was created or changed; fields are the names of those that changed.
func (s *Service) auditRow(ctx context.Context, tx *db.DB, row models.Audited, what string, fields []string) error {
	if what == models.AuditChanged && len(fields) == 0 {
		return nil
	}
	kind, operatorID, id := row.AuditSubject()
	return s.audit(ctx, tx, operatorID, models.AuditAction(kind+what), &id, strings.Join(fields, ", "))
}

// audit adds an entry to the audit log in the transaction of the change.
func (s *Service) audit(
	ctx context.Context, tx *db.DB, operatorID uuid.UUID, action models.AuditAction, subject *uuid.UUID, detail string,
) error {
	entry := models.AuditEntry{OperatorID: operatorID, At: s.clock.Now(), Action: action, SubjectID: subject}
	if detail != "" {
		entry.Detail = &detail
	}
	return tx.Audit(ctx, entry)
}

// auditSession records what happened to a user's sessions. The entry names the user itself: during
// a sign-in ctx has no principal yet.
func (s *Service) auditSession(ctx context.Context, tx *db.DB, user *models.User, action models.AuditAction) error {
	return tx.Audit(ctx, models.AuditEntry{OperatorID: user.OperatorID, At: s.clock.Now(), Action: action, UserID: &user.ID,
		SubjectID: &user.ID})
}

// SignInBlocked records that sign-ins to an account were refused unchecked, because there were too
// many. An e-mail address without a user belongs to no operator, so there is no log to write to.
func (s *Service) SignInBlocked(ctx context.Context, request SignInRequest) error {
	user, err := findUser(ctx, s.db, request.Email)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.auditAttempt(ctx, user, models.AuditSignInBlocked)
}

// auditAttempt records a sign-in that failed: nobody has signed in, so it has no user of its own.
func (s *Service) auditAttempt(ctx context.Context, user *models.User, action models.AuditAction) error {
	return s.audit(principal.With(ctx, principal.Principal{Address: principal.From(ctx).Address}), s.db, user.OperatorID, action,
		&user.ID, "")
}
