package worker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/dev"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// Where the namespace has no Worker Deployment Versioning, orders are carried without it.
func TestVersioning_disabledInTemporal(t *testing.T) {
	t.Parallel()
	cli, err := testenv.TemporalCLI()
	require.NoError(t, err)
	server, err := dev.StartTemporal(t.Context(), dev.TemporalOptions{
		CLI: cli, SearchAttributes: testenv.SearchAttributes, DynamicConfig: map[string]string{"system.enableDeploymentVersions": "false"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	s := boot(t, "", apptest.Options{TemporalAddress: server.Address, BuildID: "1"})
	id := s.CreateOrder(t, s.Key)
	s.receive(t, id)
	require.Equal(t, []string{""}, completedBy(s.historyOf(t, workflowOf(id), "")))
}
