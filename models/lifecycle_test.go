package models_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
)

// Covers every combination of state, move and actor: what is not listed as legal must be refused.
func TestDecide_everyTransition(t *testing.T) {
	t.Parallel()
	const (
		store, operator, rider, recipient, auto = models.ByStore, models.ByOperator, models.ByRider, models.ByRecipient, models.ByAuto
		failed, awaiting, retry, returning      = models.SubstatusAttemptFailed, models.SubstatusAwaitingDecision, models.SubstatusRetryPlanned, models.SubstatusReturning
	)
	registered, received := models.State{Status: models.StatusRegistered}, models.State{Status: models.StatusReceived}
	out, delivered := models.State{Status: models.StatusAssigned}, models.State{Status: models.StatusDelivered}
	with := func(state models.State, substatus models.Substatus) models.State {
		state.Substatus = substatus
		return state
	}
	cancelledBy := func(by models.Actor) models.State {
		return models.State{Status: models.StatusCancelled, CancelledBy: by}
	}
	returned := with(cancelledBy(operator), models.SubstatusReturned)
	type row struct {
		move   models.Move
		actors []models.Actor
		to     models.State
	}
	by := func(actors ...models.Actor) []models.Actor { return actors }
	legal := map[models.State][]row{
		registered: {
			{models.MoveReceive, by(operator), received}, {models.MoveCancel, by(store), cancelledBy(store)},
			{models.MoveCancel, by(operator), cancelledBy(operator)}, {models.MoveCancel, by(auto), cancelledBy(auto)},
		},
		received: {
			{models.MoveAssign, by(operator), out}, {models.MoveCancel, by(operator), cancelledBy(operator)},
			{models.MoveUndo, by(operator), received},
		},
		with(received, awaiting): {
			{models.MoveAssign, by(operator), out}, {models.MoveCancel, by(operator), cancelledBy(operator)},
			{models.MoveRetry, by(store, operator, recipient, auto), with(received, retry)},
			{models.MoveReturn, by(store, operator, auto), with(received, returning)},
			{models.MoveUndo, by(operator), with(received, awaiting)},
		},
		with(received, retry): {
			{models.MoveAssign, by(operator), out}, {models.MoveCancel, by(operator), cancelledBy(operator)},
			{models.MoveRetry, by(operator), with(received, retry)}, {models.MoveReturn, by(operator), with(received, returning)},
			{models.MoveUndo, by(operator), with(received, retry)},
		},
		with(received, returning): {
			{models.MoveHandBack, by(operator), returned}, {models.MoveRetry, by(operator), with(received, retry)},
			{models.MoveUndo, by(operator), with(received, returning)},
		},
		out: {
			{models.MoveAssign, by(operator), out}, {models.MoveDeliver, by(operator, rider), delivered},
			{models.MoveFail, by(operator, rider), with(out, failed)}, {models.MoveReceive, by(operator), received},
			{models.MoveCancel, by(operator), cancelledBy(operator)}, {models.MoveUndo, by(operator), out},
		},
		with(out, failed): {
			{models.MoveAssign, by(operator), out}, {models.MoveDeliver, by(operator, rider), delivered},
			{models.MoveFail, by(operator, rider), with(out, failed)}, {models.MoveReceive, by(operator), with(received, awaiting)},
			{models.MoveRetry, by(store, operator, recipient, auto), with(out, retry)},
			{models.MoveReturn, by(store, operator, auto), with(out, returning)},
			{models.MoveCancel, by(operator), cancelledBy(operator)}, {models.MoveUndo, by(operator), with(out, failed)},
		},
		with(out, retry): {
			{models.MoveAssign, by(operator), out}, {models.MoveDeliver, by(operator, rider), delivered},
			{models.MoveFail, by(operator, rider), with(out, failed)}, {models.MoveReceive, by(operator), with(received, retry)},
			{models.MoveRetry, by(operator), with(out, retry)}, {models.MoveReturn, by(operator), with(out, returning)},
			{models.MoveCancel, by(operator), cancelledBy(operator)},
		},
		with(out, returning): {
			{models.MoveDeliver, by(operator, rider), delivered}, {models.MoveReceive, by(operator), with(received, returning)},
			{models.MoveRetry, by(operator), with(out, retry)},
		},
		delivered:             {{models.MoveUndo, by(operator), delivered}},
		cancelledBy(auto):     {{models.MoveReceive, by(operator), received}},
		cancelledBy(store):    {},
		cancelledBy(operator): {},
		returned:              {},
	}
	for state, rows := range legal {
		for _, move := range models.Moves {
			for _, actor := range []models.Actor{store, operator, rider, recipient, auto} {
				at := slices.IndexFunc(rows, func(r row) bool { return r.move == move && slices.Contains(r.actors, actor) })
				after, verdict := state.Decide(move, actor, nil)
				if at < 0 {
					require.Equal(t, models.Refused, verdict, "%v by %s: %s", state, actor, move)
					require.Equal(t, state, after)
					continue
				}
				require.Equal(t, models.Applied, verdict, "%v by %s: %s", state, actor, move)
				require.Equal(t, rows[at].to, after)
			}
		}
	}
}

// A package that is back at the counter is with nobody; an order keeps its rider otherwise.
func TestDecide_rider(t *testing.T) {
	t.Parallel()
	rider := uuid.New()
	state := models.State{Status: models.StatusAssigned, Substatus: models.SubstatusAttemptFailed, RiderID: &rider}
	for move, want := range map[models.Move]*uuid.UUID{
		models.MoveReceive: nil, models.MoveDeliver: &rider, models.MoveFail: &rider, models.MoveRetry: &rider, models.MoveReturn: &rider,
	} {
		after, verdict := state.Decide(move, models.ByOperator, nil)
		require.Equal(t, models.Applied, verdict)
		require.Equal(t, want, after.RiderID, move)
	}
}

// A rider moves only what is with them.
func TestMessageDecide_otherRider(t *testing.T) {
	t.Parallel()
	rider, other := uuid.New(), uuid.New()
	state := models.State{Status: models.StatusAssigned, RiderID: &rider}
	message := models.Message{Move: models.MoveDeliver, Requester: models.Requester{ByRiderID: &other}}
	_, verdict, changed := message.Decide(models.ByRider, 3, state)
	require.Equal(t, models.Refused, verdict)
	require.False(t, changed)
	message.ByRiderID = &rider
	_, verdict, _ = message.Decide(models.ByRider, 3, state)
	require.Equal(t, models.Applied, verdict)
}

func TestDecide_sameRiderAgainChangesNothing(t *testing.T) {
	t.Parallel()
	rider, other := uuid.New(), uuid.New()
	state := models.State{Status: models.StatusAssigned, RiderID: &rider}

	_, verdict := state.Decide(models.MoveAssign, models.ByOperator, &rider)
	require.Equal(t, models.Unchanged, verdict)
	_, verdict = state.Decide(models.MoveAssign, models.ByOperator, &other)
	require.Equal(t, models.Applied, verdict)
}

func TestState_finalAndRevivable(t *testing.T) {
	t.Parallel()
	require.False(t, models.State{Status: models.StatusDelivered}.Final(), "a delivery can be taken back")
	require.True(t, models.State{Status: models.StatusCancelled, CancelledBy: models.ByStore}.Final())
	require.True(t, models.State{Status: models.StatusCancelled, CancelledBy: models.ByOperator}.Final())
	auto := models.State{Status: models.StatusCancelled, CancelledBy: models.ByAuto}
	require.False(t, auto.Final(), "a late package revives it")
	require.True(t, auto.Revivable())
}

func TestMoveEvents(t *testing.T) {
	t.Parallel()
	for move, want := range map[models.Move][]models.Event{
		models.MoveReceive: nil, models.MoveAssign: {models.EventAssigned}, models.MoveDeliver: {models.EventDelivered},
		models.MoveCancel: {models.EventCancelled}, models.MoveFail: {models.EventAttemptFailed}, models.MoveReturn: {models.EventReturning},
		models.MoveHandBack: {models.EventCancelled, models.EventReturned}, models.MoveRetry: {models.EventUpdated}, models.MoveUndo: {models.EventUpdated},
	} {
		require.Equal(t, want, move.Events(), move)
	}
}

func TestCompareStores(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)
	older, newer := models.Store{Name: "zapatería", CreatedAt: monday}, models.Store{Name: "Zapatería", CreatedAt: monday.Add(time.Hour)}
	stores := []models.Store{newer, {Name: "Ñandú"}, {Name: "beta"}, older, {Name: "Ópalo"}, {Name: "ánfora"}, {Name: "Nube"}}
	slices.SortFunc(stores, models.CompareStores)
	require.Equal(t, []models.Store{{Name: "ánfora"}, {Name: "beta"}, {Name: "Ñandú"}, {Name: "Nube"}, {Name: "Ópalo"}, older, newer}, stores)
}

func TestCompareBranches(t *testing.T) {
	t.Parallel()
	branches := []models.Branch{{Name: "Óvalo"}, {Name: "Zona Sur", Main: true}, {Name: "este"}}
	slices.SortFunc(branches, models.CompareBranches)
	require.Equal(t, []models.Branch{{Name: "Zona Sur", Main: true}, {Name: "este"}, {Name: "Óvalo"}}, branches)
}
