package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/encryption"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/webhooks"
)

// reseal encrypts a value of a row with the current key; changed is false if it was so already.
type reseal func(id uuid.UUID, sealed []byte) (resealed []byte, changed bool, err error)

// ReencryptSecrets encrypts everything that an old SECRET_KEY encrypted with the current one, and
// returns how many values changed. Each is changed alone: an interrupted run is simply repeated.
// Values that no key opens are left as they are and reported at the end, as encryption.ErrOpen: the
// old key can be removed all the same.
func (a *App) ReencryptSecrets(ctx context.Context) (changed int, err error) {
	bound := func(to func(uuid.UUID) []byte) reseal {
		return func(id uuid.UUID, sealed []byte) ([]byte, bool, error) { return a.secrets.Reseal(sealed, to(id)) }
	}
	older := func(id uuid.UUID, sealed []byte) ([]byte, bool, error) {
		return webhooks.ResealOlderSecrets(a.secrets, id, sealed)
	}
	var unreadable []error
	for _, values := range []struct {
		table, column string
		reseal        reseal
	}{
		// A rotation moves a webhook's secret down this list, where it is found.
		{"webhooks", "secret", bound(func(id uuid.UUID) []byte { return id[:] })},
		{"webhooks", "previous_secret", bound(func(id uuid.UUID) []byte { return id[:] })},
		{"webhooks", "older_secrets", older},
		{"users", "totp_secret", bound(operators.SecondFactorContext)},
		{"orders", "recipient_doc_encrypted", bound(orders.DocumentContext)},
	} {
		count, err := a.reencryptColumn(ctx, values.table, values.column, values.reseal)
		if changed += count; err != nil && !errors.Is(err, encryption.ErrOpen) {
			return changed, err
		}
		unreadable = append(unreadable, err)
	}
	return changed, errors.Join(unreadable...)
}

// reencryptBatch is how many values are read at once.
const reencryptBatch = 500

func (a *App) reencryptColumn(ctx context.Context, table, column string, reseal reseal) (changed int, err error) {
	var unreadable encryption.Unreadable
	var after uuid.UUID
	for {
		var rows []struct {
			ID     uuid.UUID
			Sealed []byte
		}
		err := a.DB.Query(ctx).Table(table).Select("id, "+column+" AS sealed").
			Where("id > ? AND "+column+" IS NOT NULL", after).Order("id").Limit(reencryptBatch).Scan(&rows).Error
		if err != nil {
			return changed, err
		}
		if len(rows) == 0 {
			return changed, unreadable.Err()
		}
		for _, row := range rows {
			after = row.ID
			resealed, isNew, err := reseal(row.ID, row.Sealed)
			if err != nil {
				if err = fmt.Errorf("%s of %s: %s: %w", column, table, row.ID, err); !unreadable.Add(err) {
					return changed, err
				}
			}
			if !isNew {
				continue
			}
			// A value that was changed since it was read stays as it is.
			replaced := a.DB.Query(ctx).Table(table).Where("id = ? AND "+column+" = ?", row.ID, row.Sealed).
				UpdateColumn(column, resealed)
			if replaced.Error != nil {
				return changed, replaced.Error
			}
			changed += int(replaced.RowsAffected)
		}
	}
}
