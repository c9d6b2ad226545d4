package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/models"
)

func TestReceivingBranch(t *testing.T) {
	t.Parallel()
	main, other, closed := uuid.New(), uuid.New(), uuid.New()
	s := newSettings(&db.Settings{Branches: []models.Branch{
		{ID: other, Active: true}, {ID: main, Main: true, Active: true}, {ID: closed},
	}})
	branch, err := s.receivingBranch(nil)
	require.NoError(t, err)
	require.Equal(t, main, branch.ID, "if absent, the main branch")
	branch, err = s.receivingBranch(&other)
	require.NoError(t, err)
	require.Equal(t, other, branch.ID)
	require.NotContains(t, s.branches, closed)

	_, err = newSettings(&db.Settings{Branches: []models.Branch{{ID: other, Active: true}}}).receivingBranch(nil)
	require.ErrorIs(t, err, &apperror.Error{Code: "no_main_branch"}, "an operator that is not set up yet")
}

// Contract 6.3.4: a store's webhook gets that store's events, the operator's gets all events.
func TestSubscribed(t *testing.T) {
	t.Parallel()
	storeA, storeB := uuid.New(), uuid.New()
	events := models.JoinEvents([]models.Event{models.EventCreated, models.EventDelivered})
	operators := models.Webhook{ID: uuid.New(), Events: events, Active: true}
	ofA := models.Webhook{ID: uuid.New(), Events: events, Active: true, StoreID: &storeA}
	over := models.Webhook{ID: uuid.New(), Events: events}
	s := newSettings(&db.Settings{Webhooks: []models.Webhook{operators, ofA, over}})
	for name, c := range map[string]struct {
		event models.Event
		store *uuid.UUID
		want  []models.Webhook
	}{
		"the store's order":      {models.EventCreated, &storeA, []models.Webhook{operators, ofA}},
		"another store's":        {models.EventCreated, &storeB, []models.Webhook{operators}},
		"the operator's own":     {models.EventCreated, nil, []models.Webhook{operators}},
		"not subscribed to that": {models.EventAssigned, &storeA, []models.Webhook{}},
	} {
		require.Equal(t, c.want, subscribed(s.webhooks, c.event, c.store), name)
	}
	require.Len(t, s.webhooks, 3, "asking changes nothing")
}
