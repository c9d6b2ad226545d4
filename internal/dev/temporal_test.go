package dev

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/test/poll"
)

// temporalCLI is the repository's program.
func temporalCLI(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a Temporal server")
	}
	cli, err := FindTemporalDev(t.Context(), "../../bin", func(line string) { fmt.Fprintln(os.Stderr, line) })
	require.NoError(t, err)
	return cli
}

// startTemporal starts a server with the repository's program.
func startTemporal(t *testing.T, options TemporalOptions) *Temporal {
	t.Helper()
	options.CLI = temporalCLI(t)
	server, err := StartTemporal(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	return server
}

func dialTemporal(t *testing.T, server *Temporal, namespace string) client.Client {
	t.Helper()
	connection, err := client.NewLazyClient(client.Options{HostPort: server.Address, Namespace: namespace, Logger: discardLogger})
	require.NoError(t, err)
	t.Cleanup(connection.Close)
	return connection
}

func TestStartTemporal_isUsableWhenItReturns(t *testing.T) {
	t.Parallel()
	server := startTemporal(t, TemporalOptions{
		UI: true, Namespace: "orders", SearchAttributes: map[string]string{"GuideCode": "Keyword"},
	})
	_, err := dialTemporal(t, server, "orders").ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "order-1", TaskQueue: "nobody",
		TypedSearchAttributes: temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("GuideCode").ValueSet("ABCDE-FGHJKM")),
	}, "Order")
	require.NoError(t, err)

	response, err := http.Get(server.UIURL)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

func TestStartTemporal_workflowsSurviveARestart(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "c# 100%41?")
	require.NoError(t, os.Mkdir(directory, 0o700))
	file := filepath.Join(directory, "temporal.db")
	first := startTemporal(t, TemporalOptions{DBFile: file})
	starting := dialTemporal(t, first, "default")
	poll.Until(t, func() error { // the SDK gives a call 10 seconds, in which a busy machine may not answer
		_, err := starting.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "order-1", TaskQueue: "nobody"}, "Order")
		return err
	})
	first.Kill()
	require.NoError(t, first.Restart(t.Context()), "at the same address, with the same file")
	requireOrder := func(connection client.Client) {
		poll.Until(t, func() error {
			_, err := connection.DescribeWorkflowExecution(t.Context(), "order-1", "")
			return err
		})
	}
	requireOrder(dialTemporal(t, first, "default"))
	require.NoError(t, first.Stop(t.Context()))
	require.FileExists(t, file)

	second := startTemporal(t, TemporalOptions{DBFile: file, SearchAttributes: map[string]string{"AddedLater": "Keyword"}})
	connection := dialTemporal(t, second, "default")
	requireOrder(connection)
	attributes, err := connection.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	require.Contains(t, attributes.CustomAttributes, "AddedLater")
}

func TestStartTemporal_aPortInUseIsNamed(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port

	for name, options := range map[string]TemporalOptions{
		"the address of Temporal:":            {Port: port},
		"the address of the Temporal Web UI:": {UIPort: port},
	} {
		options.CLI, options.PortVariable = "/does/not/exist", "DEV_TEMPORAL_PORT"
		_, err := StartTemporal(t.Context(), options)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "127.0.0.1:"+strconv.Itoa(port)+" is in use")
		require.ErrorContains(t, err, "set DEV_TEMPORAL_PORT")
	}
}

func TestStartTemporal_aServerThatEndsAtOnceSaysWhy(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(t.TempDir(), "temporal")
	writeProgram(t, cli, "#!/bin/sh\necho 'unknown flag: --sqlite-pragma'\nexit 1\n")
	_, err := StartTemporal(t.Context(), TemporalOptions{CLI: cli})
	require.EqualError(t, err, "Temporal ended by itself (exit status 1); its last lines:\nunknown flag: --sqlite-pragma")
}

// The ports of the server's parts are chosen before they are listened on: another program that is
// given one meanwhile does not fail the start.
func TestStartTemporal_aPortOfItsOwnInUse(t *testing.T) {
	t.Parallel()
	cli := temporalCLI(t)
	directory := t.TempDir()
	program, met, file := filepath.Join(directory, "temporal"), filepath.Join(directory, "met"), filepath.Join(directory, "temporal.db")
	writeProgram(t, program, "#!/bin/sh\nif [ -e '"+met+"' ]; then exec '"+cli+"' \"$@\"; fi\n"+
		"touch '"+met+"' && echo half > '"+file+"'\necho 'listen tcp 127.0.0.1:40123: bind: address already in use'\nexit 1\n")
	server, err := StartTemporal(t.Context(), TemporalOptions{CLI: program, DBFile: file})
	require.NoError(t, err)
	require.NoError(t, server.Stop(t.Context()))
	require.FileExists(t, met)
}

func TestStartTemporal_aStartThatFailsLeavesNoDatabaseFile(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	cli, file := filepath.Join(directory, "temporal"), filepath.Join(directory, "temporal.db")
	writeProgram(t, cli, "#!/bin/sh\necho half > '"+file+"'\nexit 1\n")
	_, err := StartTemporal(t.Context(), TemporalOptions{CLI: cli, DBFile: file})
	require.Error(t, err)
	require.NoFileExists(t, file)
}

func TestWithoutTemporalVariables(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"HOME=/home/ana"},
		withoutTemporalVariables([]string{"TEMPORAL_ADDRESS=cloud:7233", "HOME=/home/ana", "TEMPORAL_NAMESPACE=orders"}))
}
