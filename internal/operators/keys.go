package operators

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// maxListedKeys bounds the list, which includes keys that are of no use any more.
const maxListedKeys = 200

// Keys lists an operator's API keys, newest first, including revoked ones. Those that can be used
// are always among them.
func (s *Service) Keys(ctx context.Context, operator *models.Operator) ([]models.APIKey, error) {
	var keys []models.APIKey
	err := s.db.Query(ctx).Where("operator_id = ?", operator.ID).Limit(maxListedKeys).Clauses(clause.OrderBy{
		Expression: gorm.Expr("revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) DESC, created_at DESC, id DESC",
			s.clock.Now()),
	}).Find(&keys).Error
	slices.SortStableFunc(keys, func(a, b models.APIKey) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return keys, err
}

// CreateKey creates an API key and returns its plain text, of which only the hash is stored. The
// plan bounds the active keys, because every key has a rate limit of its own.
func (s *Service) CreateKey(
	ctx context.Context, operator *models.Operator, in *jsonbody.Object,
) (key *models.APIKey, plain string, err error) {
	now := s.clock.Now()
	key = &models.APIKey{
		ID: uuid.New(), OperatorID: operator.ID, Name: in.RequiredText("name", maxName),
		Scopes:  models.JoinSpaced(readScopes(in)),
		StoreID: in.UUID("store_id"), CreatedAt: now,
	}
	readFlag(in, "test", &key.Test)
	if key.StoreID != nil {
		active, err := isActiveStore(ctx, s.db, operator.ID, *key.StoreID)
		if err != nil {
			return nil, "", err
		}
		if !active {
			in.AddError("store_id", notActiveStore)
		}
	}
	if expiry := in.Time("expires_at"); expiry != nil {
		at := clock.Normalize(*expiry)
		key.ExpiresAt = &at
		if !at.After(now) {
			in.AddError("expires_at", "debe estar en el futuro")
		}
	}
	if err := in.Err(); err != nil {
		return nil, "", err
	}
	if plain, err = key.Issue(); err != nil {
		return nil, "", err
	}
	return key, plain, s.db.InTx(ctx, func(tx *db.DB) error {
		// What is counted stays valid until the key is written.
		if err := tx.QueryForNoKeyUpdate(ctx).Select("id").Where("id = ?",
			operator.ID).Take(&models.Operator{}).Error; err != nil {
			return err
		}
		var active int64
		err := tx.Query(ctx).Model(&models.APIKey{}).
			Where("operator_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", operator.ID,
				now).Count(&active).Error
		if err != nil {
			return err
		}
		if active >= int64(operator.Plan.ActiveKeys()) {
			return ErrTooManyKeys
		}
		if err := tx.Insert(ctx, key); err != nil {
			return err
		}
		return s.auditRow(ctx, tx, key, models.AuditCreated, nil)
	})
}

// RevokeKey revokes a key.
func (s *Service) RevokeKey(ctx context.Context, operator *models.Operator, id uuid.UUID) error {
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		err := db.RequireOneRow(tx.Query(ctx).Model(&models.APIKey{}).
			Where("id = ? AND operator_id = ? AND revoked_at IS NULL", id, operator.ID).Update("revoked_at", s.clock.Now()))
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, operator.ID, models.AuditKeyRevoked, &id, "")
	})
	return rowErrors{notFound: ErrKeyNotFound}.replace(err)
}

// readScopes reads at least one known scope and removes duplicates.
func readScopes(in *jsonbody.Object) []models.Scope {
	words := in.TextList("scopes")
	if len(words) == 0 {
		in.AddError("scopes", "debe nombrar al menos un permiso: "+scopeNames)
		return nil
	}
	var scopes []models.Scope
	for _, word := range words {
		scope := models.Scope(word)
		if !slices.Contains(models.Scopes, scope) {
			in.AddError("scopes", "solo admite: "+scopeNames)
			return nil
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

var scopeNames = strings.ReplaceAll(models.JoinSpaced(models.Scopes), " ", ", ")
