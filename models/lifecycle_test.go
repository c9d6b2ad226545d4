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
	type cell struct {
		status models.Status
		by     models.Actor // who cancelled it, where it is cancelled
		move   models.Move
		actor  models.Actor
	}
	legal := map[cell]models.Status{
		{models.StatusRegistered, "", models.MoveCancel, models.ByStore}:               models.StatusCancelled,
		{models.StatusRegistered, "", models.MoveCancel, models.ByOperator}:            models.StatusCancelled,
		{models.StatusRegistered, "", models.MoveCancel, models.ByAuto}:                models.StatusCancelled,
		{models.StatusRegistered, "", models.MoveReceive, models.ByOperator}:           models.StatusReceived,
		{models.StatusReceived, "", models.MoveAssign, models.ByOperator}:              models.StatusAssigned,
		{models.StatusReceived, "", models.MoveCancel, models.ByOperator}:              models.StatusCancelled,
		{models.StatusAssigned, "", models.MoveAssign, models.ByOperator}:              models.StatusAssigned,
		{models.StatusAssigned, "", models.MoveDeliver, models.ByOperator}:             models.StatusDelivered,
		{models.StatusAssigned, "", models.MoveCancel, models.ByOperator}:              models.StatusCancelled,
		{models.StatusCancelled, models.ByAuto, models.MoveReceive, models.ByOperator}: models.StatusReceived,
	}
	moves := []models.Move{models.MoveCancel, models.MoveReceive, models.MoveAssign, models.MoveDeliver}
	actors := []models.Actor{models.ByStore, models.ByOperator, models.ByAuto}
	seen := 0
	for _, status := range models.Statuses {
		cancelledBy := []models.Actor{""}
		if status == models.StatusCancelled {
			cancelledBy = actors
		}
		for _, by := range cancelledBy {
			for _, move := range moves {
				for _, actor := range actors {
					state := models.State{Status: status, CancelledBy: by}
					to, verdict := state.Decide(move, actor, nil)
					want, ok := legal[cell{status, by, move, actor}]
					if !ok {
						require.Equal(t, models.Refused, verdict, "%s/%s by %s: %s", status, by, actor, move)
						require.Equal(t, status, to)
						continue
					}
					seen++
					require.Equal(t, models.Applied, verdict, "%s/%s by %s: %s", status, by, actor, move)
					require.Equal(t, want, to)
				}
			}
		}
	}
	require.Equal(t, len(legal), seen)
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
	require.True(t, models.State{Status: models.StatusDelivered}.Final())
	require.True(t, models.State{Status: models.StatusCancelled, CancelledBy: models.ByStore}.Final())
	require.True(t, models.State{Status: models.StatusCancelled, CancelledBy: models.ByOperator}.Final())
	auto := models.State{Status: models.StatusCancelled, CancelledBy: models.ByAuto}
	require.False(t, auto.Final(), "a late package revives it")
	require.True(t, auto.Revivable())
}

func TestMoveEvent_receptionEmitsNothing(t *testing.T) {
	t.Parallel()
	_, emits := models.MoveReceive.Event()
	require.False(t, emits)
	for move, want := range map[models.Move]models.Event{
		models.MoveAssign: models.EventAssigned, models.MoveDeliver: models.EventDelivered,
		models.MoveCancel: models.EventCancelled,
	} {
		got, emits := move.Event()
		require.True(t, emits)
		require.Equal(t, want, got)
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
