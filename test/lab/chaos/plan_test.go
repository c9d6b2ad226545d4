package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlan_followsFromTheSeedAlone(t *testing.T) {
	t.Parallel()
	plan := planFaults(7, 5*time.Minute, 10*time.Second)
	require.Equal(t, plan, planFaults(7, 5*time.Minute, 10*time.Second))
	require.NotEqual(t, plan, planFaults(8, 5*time.Minute, 10*time.Second))
	broken := map[string]bool{}
	for _, f := range plan {
		broken[string(f.Kind)+" "+f.Target] = true
		require.LessOrEqual(t, f.At+f.For, 5*time.Minute, "what is broken is mended before the end")
	}
	require.Len(t, broken, 14, "in five minutes everything is killed and paused, the disk full and the receiver away")
}

// A short run has every kind of fault.
func TestPlan_beginsWithOneOfEachKind(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		kinds := map[kind]bool{}
		killed := map[string]bool{}
		for _, f := range planFaults(seed, testDuration, testPause) {
			kinds[f.Kind] = true
			killed[f.key()] = killed[f.key()] || f.Kind == kill
		}
		require.Len(t, kinds, 4, "seed %d", seed)
		require.True(t, killed[temporalServer] && killed[databaseServer], "seed %d", seed)
	}
}
