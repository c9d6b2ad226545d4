package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
)

// A session keeps its last twenty pages. The one that was just stored is among them whatever the
// clock says: the browser is on its way to it.
func TestInsertStoredPage_keepsTheNewPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		now := time.Now().UTC().Truncate(time.Second)
		user := models.User{ID: uuid.New(), OperatorID: dbtest.NewOrder(t, database).OperatorID, Name: "Luz", Email: uuid.NewString() + "@example.com", Role: models.RoleOperator, Active: true, CreatedAt: now}
		require.NoError(t, database.Insert(t.Context(), &user))
		session := models.Session{ID: uuid.New(), UserID: user.ID, TokenHash: []byte(uuid.NewString()), CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		require.NoError(t, database.Insert(t.Context(), &session))
		ids := make([]uuid.UUID, 25)
		for i := range ids {
			ids[i] = uuid.New()
			ids[i][0] = byte(200 - i) // each comes before the others by its id
			created := now
			if i == len(ids)-1 {
				created = now.Add(-time.Hour) // the clock was put back
			}
			page := models.StoredPage{ID: ids[i], SessionID: session.ID, Status: 422, Content: []byte("página"), CreatedAt: created, ExpiresAt: now.Add(time.Hour)}
			require.NoError(t, database.InsertStoredPage(t.Context(), &page))
			_, err := database.TakeStoredPage(t.Context(), ids[i], session.ID, now)
			require.NoError(t, err, "page %d", i)
		}
		kept := 0
		for _, id := range ids {
			_, err := database.TakeStoredPage(t.Context(), id, session.ID, now)
			if err == nil {
				kept++
			} else {
				require.True(t, db.IsNotFound(err), err)
			}
		}
		require.Equal(t, 20, kept)
	})
}
