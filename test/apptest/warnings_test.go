package apptest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was logged since a test began is kept, the last of it if it is much, and only errors and
// warnings that are not of statements.
func TestWarningLog(t *testing.T) {
	t.Parallel()
	log := &warningLog{}
	log.add([]byte("time=1 level=WARN msg=before\n"))
	before := log.count
	require.Empty(t, log.since(before))
	log.add([]byte("time=2 level=INFO msg=request\n"))
	log.add([]byte("time=2 level=WARN msg=\"SQL executed\" trace.rows=1\n"))
	log.add([]byte("time=3 level=ERROR msg=meanwhile\n"))
	require.Equal(t, []string{"time=3 level=ERROR msg=meanwhile\n"}, log.since(before))
	for i := range 2 * maxWarnings {
		log.add(fmt.Appendf(nil, "time=4 level=WARN msg=%d\n", i))
	}
	require.Len(t, log.since(before), maxWarnings)
	require.Equal(t, fmt.Sprintf("time=4 level=WARN msg=%d\n", 2*maxWarnings-1), log.since(before)[maxWarnings-1])
	require.Len(t, log.since(log.count-1), 1)
}
