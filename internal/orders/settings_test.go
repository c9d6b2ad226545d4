package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/models"
)

func TestReceivingBranch(t *testing.T) {
	t.Parallel()
	main, other, closed := uuid.New(), uuid.New(), uuid.New()
	s := newSettings(&settingsRows{Branches: []models.Branch{
		{ID: other, Active: true}, {ID: main, Main: true, Active: true}, {ID: closed},
	}})
	branch, err := s.receivingBranch(nil)
	require.NoError(t, err)
	require.Equal(t, main, branch.ID, "if absent, the main branch")
	branch, err = s.receivingBranch(&other)
	require.NoError(t, err)
	require.Equal(t, other, branch.ID)
	require.NotContains(t, s.branches, closed)

	_, err = newSettings(&settingsRows{Branches: []models.Branch{{ID: other, Active: true}}}).receivingBranch(nil)
	require.Equal(t, "no_main_branch", apperror.From(err).Code, "an operator that is not set up yet")
}

// Contract 6.3.4: a store's webhook gets that store's events, the operator's gets all events. A
// webhook of test mode gets the events of test orders, and no other does.
func TestSubscribed(t *testing.T) {
	t.Parallel()
	storeA, storeB := uuid.New(), uuid.New()
	events := models.JoinEvents([]models.Event{models.EventCreated, models.EventDelivered})
	operators := models.Webhook{ID: uuid.New(), Events: events, Active: true}
	ofA := models.Webhook{ID: uuid.New(), Events: events, Active: true, StoreID: &storeA}
	over := models.Webhook{ID: uuid.New(), Events: events}
	ofTests := models.Webhook{ID: uuid.New(), Events: events, Active: true, Test: true}
	s := newSettings(&settingsRows{Webhooks: []models.Webhook{operators, ofA, over, ofTests}})
	for name, c := range map[string]struct {
		event models.Event
		order models.Order
		want  []models.Webhook
	}{
		"the store's order":      {models.EventCreated, models.Order{StoreID: &storeA}, []models.Webhook{operators, ofA}},
		"another store's":        {models.EventCreated, models.Order{StoreID: &storeB}, []models.Webhook{operators}},
		"the operator's own":     {models.EventCreated, models.Order{}, []models.Webhook{operators}},
		"not subscribed to that": {models.EventAssigned, models.Order{StoreID: &storeA}, []models.Webhook{}},
		"a test order":           {models.EventCreated, models.Order{StoreID: &storeA, Test: true}, []models.Webhook{ofTests}},
	} {
		require.Equal(t, c.want, subscribed(s.webhooks, c.event, &c.order), name)
	}
	require.Len(t, s.webhooks, 4, "asking changes nothing")
}
