package clients

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/testenv"
)

// An error comes back from a process of a pool as it was raised there. One that cannot be made
// again breaks the pool, and every other task with it.
func TestPython_errorsOfAProcessPool(t *testing.T) {
	t.Parallel()
	python := testenv.Program(t, "python3")
	const program = `
import pickle, sys
sys.path.insert(0, sys.argv[1])
import despacho
raised = despacho.APIError(422, {"code": "not_covered", "error": "No.", "fields": [{"field": "location_id"}]}, "r-1", 3.0)
got = pickle.loads(pickle.dumps(raised))
assert type(got) is despacho.APIError and vars(got) == vars(raised) and str(got) == str(raised), vars(got)
assert str(pickle.loads(pickle.dumps(despacho.NoAnswerError("lost")))) == "lost"
`
	output, err := exec.Command(python, "-c", program, client(t, "python")).CombinedOutput()
	require.NoError(t, err, string(output))
}
