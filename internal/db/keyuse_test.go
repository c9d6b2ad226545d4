package db_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
)

// keysToUse stores keys and returns their ids and hashes.
func keysToUse(t *testing.T, database *db.DB, count int) (ids []uuid.UUID, hashes [][]byte) {
	t.Helper()
	hashes = issueKeys(t, database, dbtest.NewOrder(t, database).OperatorID, count, func(key *models.APIKey) { ids = append(ids, key.ID) })
	return ids, hashes
}

// A use is stored for its key alone, and not within a minute of a stored one.
func TestSaveKeyUses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		const first, second, unused = 0, 1, 2
		ids, hashes := keysToUse(t, database, 3)
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		save := func(uses ...db.KeyUse) {
			require.NoError(t, database.SaveKeyUses(t.Context(), uses, time.Minute))
		}
		requireUse := func(key int, at time.Time, from string) {
			t.Helper()
			holder, _, err := database.Authenticate(t.Context(), hashes[key], now, uuid.Nil)
			require.NoError(t, err)
			require.Equal(t, at, holder.Key.LastUsedAt.UTC())
			require.Equal(t, from, *holder.Key.LastUsedFrom)
		}
		save(db.KeyUse{KeyID: ids[first], At: now, From: "198.51.100.7"}, db.KeyUse{KeyID: uuid.New(), At: now, From: "198.51.100.8"},
			db.KeyUse{KeyID: ids[second], At: now.Add(time.Second), From: "2001:db8::1"})
		requireUse(first, now, "198.51.100.7")
		requireUse(second, now.Add(time.Second), "2001:db8::1")
		holder, _, err := database.Authenticate(t.Context(), hashes[unused], now, uuid.Nil)
		require.NoError(t, err)
		require.Nil(t, holder.Key.LastUsedAt)

		minute := now.Add(time.Minute)
		save(db.KeyUse{KeyID: ids[second], At: minute, From: "198.51.100.9"}, db.KeyUse{KeyID: ids[first], At: minute, From: "198.51.100.9"})
		requireUse(first, minute, "198.51.100.9")
		requireUse(second, now.Add(time.Second), "2001:db8::1")
	})
}

// Processes that store uses of the same keys at the same time do not deadlock.
func TestSaveKeyUses_concurrently(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		ids, _ := keysToUse(t, database, 200)
		uses := make([]db.KeyUse, len(ids))
		for i, id := range ids {
			uses[i] = db.KeyUse{KeyID: id, At: now, From: "198.51.100.7"}
		}
		reversed := slices.Clone(uses)
		slices.Reverse(reversed)
		for range 10 {
			var processes errgroup.Group
			for _, theirs := range [][]db.KeyUse{uses, reversed, uses, reversed} {
				processes.Go(func() error { return database.SaveKeyUses(t.Context(), theirs, 0) })
			}
			require.NoError(t, processes.Wait())
		}
	})
}
