package api

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

// keysToUse stores keys and returns their ids.
func keysToUse(t *testing.T, database *db.DB, count int) (ids []uuid.UUID) {
	t.Helper()
	operatorID, keys := dbtest.NewOrder(t, database).OperatorID, make([]models.APIKey, count)
	for i := range keys {
		keys[i] = models.APIKey{ID: uuid.New(), OperatorID: operatorID, Name: "prueba"}
		_, err := keys[i].Issue()
		require.NoError(t, err)
		ids = append(ids, keys[i].ID)
	}
	require.NoError(t, database.Insert(t.Context(), &keys))
	return ids
}

// A use is stored for its key alone, and not within a minute of a stored one.
func TestSaveKeyUses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		const first, second, unused = 0, 1, 2
		ids := keysToUse(t, database, 3)
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		save := func(uses ...keyUse) {
			require.NoError(t, saveKeyUses(t.Context(), database, uses))
		}
		requireUse := func(key int, at time.Time, from string) {
			t.Helper()
			stored := dbtest.Row[models.APIKey](t, database, "id = ?", ids[key])
			require.Equal(t, at, stored.LastUsedAt.UTC())
			require.Equal(t, from, *stored.LastUsedFrom)
		}
		save(keyUse{KeyID: ids[first], At: now, From: "198.51.100.7"}, keyUse{KeyID: uuid.New(), At: now, From: "198.51.100.8"},
			keyUse{KeyID: ids[second], At: now.Add(time.Second), From: "2001:db8::1"})
		requireUse(first, now, "198.51.100.7")
		requireUse(second, now.Add(time.Second), "2001:db8::1")
		require.Nil(t, dbtest.Row[models.APIKey](t, database, "id = ?", ids[unused]).LastUsedAt)

		minute := now.Add(time.Minute)
		save(keyUse{KeyID: ids[second], At: minute, From: "198.51.100.9"}, keyUse{KeyID: ids[first], At: minute, From: "198.51.100.9"})
		requireUse(first, minute, "198.51.100.9")
		requireUse(second, now.Add(time.Second), "2001:db8::1")
	})
}

// Processes that store uses of the same keys at the same time do not deadlock.
func TestSaveKeyUses_concurrently(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		ids := keysToUse(t, database, 200)
		uses := make([]keyUse, len(ids))
		for i, id := range ids {
			uses[i] = keyUse{KeyID: id, At: now, From: "198.51.100.7"}
		}
		reversed := slices.Clone(uses)
		slices.Reverse(reversed)
		for range 10 {
			var processes errgroup.Group
			for _, theirs := range [][]keyUse{uses, reversed, uses, reversed} {
				processes.Go(func() error { return saveKeyUses(t.Context(), database, theirs) })
			}
			require.NoError(t, processes.Wait())
		}
	})
}
