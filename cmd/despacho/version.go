package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"despacho/worker"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print what was built", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "despacho %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
}

// release is set at build time with -ldflags "-X main.release=…".
var release string

// version is the release, or the commit that the binary was built from.
func version() string {
	if release != "" {
		return release
	}
	commit, modified, ok := builtFrom()
	switch {
	case !ok:
		return "unknown"
	case modified:
		return commit + "-modified"
	}
	return commit
}

// developmentRelease is the release of an image that docker-compose.yml builds without a RELEASE.
const developmentRelease = "dev"

// buildID is the version of a worker's code in Temporal. A build that neither a release nor a
// commit identifies has none: two of them may differ.
func buildID() string {
	switch release {
	case "":
	case developmentRelease:
		return worker.Unversioned
	default:
		return release
	}
	commit, modified, ok := builtFrom()
	if !ok || modified {
		return worker.Unversioned
	}
	return commit
}

// builtFrom returns the commit that the binary was built from, and whether files had been changed
// since.
func builtFrom() (commit string, modified, ok bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false, false
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value[:min(12, len(setting.Value))]
		case "vcs.modified":
			modified = setting.Value == "true"
		}
	}
	return commit, modified, commit != ""
}
