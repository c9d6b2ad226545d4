package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package that the distribution lacks costs what needs it, and nothing else.
func TestInstallTogether_aPackageThatIsMissing(t *testing.T) {
	t.Parallel()
	needed := [][]string{debianPackages[compiler], debianPackages[chromium], debianPackages[postgres]}
	lacking := errors.New("apt-get install failed")
	var installed []string
	install := func(packages []string) error {
		if slices.Contains(packages, "chromium-headless-shell") {
			return lacking
		}
		installed = append(installed, packages...)
		return nil
	}
	require.ErrorIs(t, installTogether(needed, install), lacking)
	require.Equal(t, []string{"gcc", "libc6-dev", "postgresql"}, installed)
}

// What can be installed is installed by one command.
func TestInstallTogether_once(t *testing.T) {
	t.Parallel()
	var commands [][]string
	install := func(packages []string) error {
		commands = append(commands, packages)
		return nil
	}
	require.NoError(t, installTogether([][]string{debianPackages[compiler], debianPackages[curl]}, install))
	require.Equal(t, [][]string{{"gcc", "libc6-dev", "curl"}}, commands)
}
