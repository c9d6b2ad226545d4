package webhooks_test

import (
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// startWorkerProcess runs a worker in its own process.
func (s *harness) startWorkerProcess(t *testing.T, authority string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	worker := exec.Command(program)
	worker.Dir = t.TempDir()
	worker.Env = []string{
		workerVariable + "=1",
		"DATABASE_URL=" + s.Config.DatabaseURL, "SECRET_KEY=" + s.Config.SecretKey,
		"TEMPORAL_ADDRESS=" + testenv.Temporal(t), "TEMPORAL_TASK_QUEUE=" + s.Config.TaskQueue,
		"WEBHOOK_ALLOW_NETS=127.0.0.0/8", "WEBHOOK_CA_FILE=" + authority,
	}
	require.NoError(t, worker.Start())
	t.Cleanup(func() { kill(worker) })
	return worker
}

func kill(process *exec.Cmd) {
	_ = process.Process.Kill()
	_ = process.Wait()
}

// A worker killed while sending leaves nothing pending: another one takes over, and repeats what
// may have arrived only for a webhook with retries.
func TestKilled_inTheMiddleOfASend(t *testing.T) {
	eachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *harness) {
		slow := newSlowReceiver()
		defer slow.release()
		once, again := apptest.NewReceiver(t, slow.hang), apptest.NewReceiver(t, slow.hang)
		authority := filepath.Join(t.TempDir(), "receivers.pem")
		require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: once.Certificate().Raw}), 0o600))
		onceID, _ := s.Register(t, s.Key, once, onlyCreated)
		againID, _ := s.Register(t, s.Key, again, withRetry)

		first := s.startWorkerProcess(t, authority)
		s.CreateOrder(t, s.Key)
		once.WaitFor(t, 1)
		again.WaitFor(t, 1)
		kill(first)
		slow.release()
		for _, webhookID := range []string{onceID, againID} {
			left := s.logOf(t, webhookID)[0]
			require.Equal(t, "pending", left.Status)
			require.Nil(t, left.Attempts[0].DurationMS)
		}
		s.startWorkerProcess(t, authority)

		lost, repeated := s.waitUntilFinished(t, onceID, 1)[0], s.waitUntilFinished(t, againID, 1)[0]
		require.Equal(t, "failed", lost.Status)
		require.Len(t, lost.Attempts, 1)
		require.Equal(t, textInterrupted, *lost.Attempts[0].Error)
		require.Len(t, once.Events(), 1, "it may have arrived: not repeated")
		require.Equal(t, "delivered", repeated.Status)
		require.Len(t, repeated.Attempts, 2)
		require.Equal(t, textInterrupted, *repeated.Attempts[0].Error)
		require.Equal(t, http.StatusOK, *repeated.Attempts[1].StatusCode)
		require.Len(t, again.Events(), 2)
	})
}
