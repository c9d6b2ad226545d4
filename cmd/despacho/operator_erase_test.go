package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whose data has to be said, one way.
func TestOperatorErase_needsOneOrderOrOnePhone(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"--operator", "Rayo"},
		{"--operator", "Rayo", "--order", "7d3f0a52-4c1e-4b8f-9a60-2f5d8e1c7b34", "--phone", "987654321"},
	} {
		command := operatorEraseCommand()
		command.SetArgs(arguments)
		command.SilenceUsage, command.SilenceErrors = true, true
		require.ErrorContains(t, command.ExecuteContext(t.Context()), "either --order or --phone")
	}
}
