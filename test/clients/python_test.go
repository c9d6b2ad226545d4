package clients

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// An error comes back from a process of a pool as it was raised there. One that cannot be made
// again breaks the pool, and every other task with it.
func TestPython_errorsOfAProcessPool(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	const program = `
import pickle, sys
sys.path.insert(0, sys.argv[1])
import despacho
raised = despacho.APIError(422, {"code": "not_covered", "error": "No.", "fields": [{"field": "location_id"}]}, "r-1", 3.0)
got = pickle.loads(pickle.dumps(raised))
assert type(got) is despacho.APIError and vars(got) == vars(raised) and str(got) == str(raised), vars(got)
assert str(pickle.loads(pickle.dumps(despacho.NoAnswerError("lost")))) == "lost"
`
	output, err := exec.Command("python3", "-c", program, client(t, "python")).CombinedOutput()
	require.NoError(t, err, string(output))
}
