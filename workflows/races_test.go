package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/models"
	"despacho/workflows"
)

const timer = "timer"

// competing are the messages that race with the timer.
var competing = map[string]message{
	"store's cancel":    messages["cancel by the store"],
	"operator's cancel": messages["cancel by the operator"],
	"reception":         messages["received"],
}

var autoCancel = message{move: models.MoveCancel, by: models.ByAuto}

// Timer, cancel and reception in every sequence: each is decided on the state that the previous one
// left. A slow receiver of order.cancelled keeps the run open.
func TestRace_oneAfterAnotherInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, cancel := range []string{"store's cancel", "operator's cancel"} {
		for _, order := range permutations([]string{timer, cancel, "reception"}) {
			for _, kind := range []string{"signals", "updates"} {
				t.Run(strings.Join(order, ", ")+" as "+kind, func(t *testing.T) {
					t.Parallel()
					s := newSlowHarness(t)
					answers := map[string]*updateResult{}
					turn := slices.Index(order, timer)
					want := registered
					var wanted []models.Move
					verdicts := map[string]models.Verdict{}
					for i, name := range order {
						m := autoCancel
						if name != timer {
							m = competing[name]
							if kind == "signals" {
								m = m.asSignal()
							}
							s.at(24*time.Hour+time.Duration(i-turn)*time.Second, s.sendFunc(name, m, kind == "updates", answers))
						}
						var verdict models.Verdict
						if want, verdict = m.verdict(want); verdict == models.Applied {
							wanted = append(wanted, m.move)
						}
						verdicts[name] = verdict
					}
					s.run()
					require.Equal(t, wanted, s.moves())
					require.Equal(t, want.Status, s.stored.Status)
					for name, answer := range answers {
						require.True(t, answer.done)
						require.Equal(t, verdicts[name] == models.Applied, answer.err == nil, "%s: %v", name, answer.err)
					}
				})
			}
		}
	}
}

// The same in one workflow task with the timer due: every applied move was legal, every refused one
// got an error, and no message is lost.
func TestRace_allInTheSameWorkflowTask(t *testing.T) {
	t.Parallel()
	for _, cancel := range []string{"store's cancel", "operator's cancel"} {
		for _, order := range permutations([]string{cancel, "reception"}) {
			for _, kinds := range [][]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
				for name, due := range map[string]time.Duration{"due": -time.Second, "not due": time.Hour} {
					t.Run(fmt.Sprintf("%s, updates %v, %s", strings.Join(order, ", "), kinds, name), func(t *testing.T) {
						t.Parallel()
						s := newSlowHarness(t)
						s.stored.AutoCancelAt = start.Add(due)
						answers := map[string]*updateResult{}
						var sent []message
						s.beforeLoad = func() error {
							s.beforeLoad = nil // once
							s.beforeReply(func() {
								for i, name := range order {
									m := competing[name]
									if !kinds[i] {
										m = m.asSignal()
									}
									sent = append(sent, m)
									s.sendFunc(name, m, kinds[i], answers)()
								}
							})
							return nil
						}
						s.runLoaded()
						requireLegalMoves(t, s, sent, answers)
					})
				}
			}
		}
	}
}

// Signals that arrive in the workflow task in which the timer fires.
func TestRace_signalsInTheTimersOwnTask(t *testing.T) {
	t.Parallel()
	for _, order := range permutations([]string{"operator's cancel", "reception"}) {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			s := newSlowHarness(t)
			s.at(24*time.Hour, func() {
				for _, name := range order {
					s.env.SignalWorkflowSkippingWorkflowTask(string(competing[name].move), competing[name].content)
				}
			})
			s.run()
			requireLegalMoves(t, s, []message{competing[order[0]], competing[order[1]]}, nil)
		})
	}
}

// Of many concurrent cancels exactly one succeeds.
func TestRace_manyCancelsOneSuccess(t *testing.T) {
	t.Parallel()
	s := newHarness(t, registered)
	var answers []*updateResult
	s.beforeWrite = func(workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
		s.beforeReply(func() {
			for range 49 {
				answers = append(answers, s.update(workflows.CancelName, models.Message{By: models.ByStore}))
			}
		})
		return nil, nil
	}
	s.at(time.Hour, func() {
		answers = append(answers, s.update(workflows.CancelName, models.Message{By: models.ByStore}))
	})
	require.True(t, s.run())
	require.Equal(t, []models.Move{models.MoveCancel}, s.moves())
	require.Len(t, answers, 50)
	answers[0].requireDone(t)
	for _, answer := range answers[1:] {
		answer.requireRefused(t, models.MoveCancel, models.StatusCancelled)
	}
}

// slowCall is how long a slow receiver takes, by the clock of the test.
const slowCall = 25 * time.Second

// newSlowHarness has a receiver that takes its time to accept order.cancelled.
func newSlowHarness(t *testing.T) *harness {
	s := newHarness(t, registered)
	s.webhooks = []webhook{webhook(uuid.New())}
	s.receive = func(call webhookCall) error {
		s.beforeReply(func() {
			s.at(slowCall, func() { require.NoError(t, s.env.CompleteActivity(call.token, nil, nil)) })
		})
		return activity.ErrResultPending
	}
	return s
}

func (s *harness) sendFunc(name string, m message, asUpdate bool, answers map[string]*updateResult) func() {
	return func() {
		if asUpdate {
			answers[name] = s.update(string(m.move), m.content)
			return
		}
		s.signal(string(m.move), m.content)
	}
}

// requireLegalMoves checks that the written moves are legal and agree with the updates' results.
func requireLegalMoves(t *testing.T, s *harness, sent []message, answers map[string]*updateResult) {
	t.Helper()
	candidates := append(slices.Clone(sent), autoCancel)
	state, entries := registered, map[uuid.UUID]bool{}
	for i, move := range s.written {
		index := slices.IndexFunc(candidates, func(m message) bool { return m.move == move.Move && m.by == move.By })
		require.GreaterOrEqual(t, index, 0, "nobody asked for %s, or it was applied twice", move.Move)
		var verdict models.Verdict
		state, verdict = candidates[index].verdict(state)
		require.Equal(t, models.Applied, verdict, "%v", s.moves())
		require.Equal(t, i+2, move.Seq)
		entries[move.EntryID] = true
		candidates = slices.Delete(candidates, index, index+1)
	}
	require.NotEmpty(t, s.written)
	require.Len(t, entries, len(s.written))
	require.Equal(t, state.Status, s.stored.Status)
	for name, answer := range answers {
		require.True(t, answer.done, name)
		applied := slices.ContainsFunc(s.written, func(move workflows.ApplyMoveInput) bool {
			return move.Move == competing[name].move && move.By == competing[name].by
		})
		require.Equal(t, applied, answer.err == nil, "%s: %v", name, answer.err)
	}
}

func permutations(list []string) [][]string {
	if len(list) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for i, first := range list {
		rest := slices.Delete(slices.Clone(list), i, i+1)
		for _, tail := range permutations(rest) {
			all = append(all, append([]string{first}, tail...))
		}
	}
	return all
}
